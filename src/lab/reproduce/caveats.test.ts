import { describe, expect, it } from "vitest";
import { caveatsOf } from "./caveats.ts";
import type { Claim } from "./experiment.ts";
import { untestable } from "./verdict.ts";

describe("what is to be read before any number", () => {
  const plan = () => Promise.reject(new Error("planned already"));
  const experiment = { name: "mixinstruct", title: "MixInstruct", plan };
  const part = { experiment, notes: [], exhibits: [] };
  const judged = [23, 8].map((id) => ({
    claim: { id } as Claim,
    ...untestable(""),
    standIns: id === 8 ? ["OpenAItext"] : ["OpenAItext", "MixInstruct"],
  }));

  it("names what stands in for the paper's data and in which claims, and which encoders were not run", () => {
    const absent = [
      { name: "e5b", reason: "its weights are not here" },
      { name: "mpnet", reason: "not asked for" },
      { name: "OpenAItext", reason: "not asked for" },
    ];
    const encoders = ["MiniLM", "static"].map((name) => ({ name, identity: "", epochs: [] }));
    expect(
      caveatsOf({ parts: [{ ...part, standIn: "other prompts" }], judged }, { absent, encoders }),
    ).toEqual([
      "In place of the paper's data: for MixInstruct (claim 23) other prompts.",
      "Of the paper's encoders MiniLM alone was run. Not run: e5b (its weights are not here); mpnet, OpenAItext (not asked for).",
      "Where the paper compares with OpenAItext (claims 8, 23), each encoder's own prompts or vectors stand in for it.",
    ]);
    expect(caveatsOf({ parts: [part], judged: [] }, { absent: [], encoders: [] })).toEqual([]);
  });
});
