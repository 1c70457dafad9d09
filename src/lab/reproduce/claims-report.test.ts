import { describe, expect, it } from "vitest";
import { caveatsOf } from "./claims-report.ts";
import type { Claim } from "./experiment.ts";
import { judgeParts } from "./verdict.ts";

/** Parts of the paper that a claim is about and that are not here. */
const MISSING: Readonly<Record<number, readonly string[]>> = {
  8: ["OpenAItext"],
  12: ["e5b"],
  23: ["OpenAItext", "MixInstruct"],
};

describe("caveats", () => {
  const plan = () => Promise.reject(new Error("planned already"));
  const experiment = { name: "mixinstruct", title: "MixInstruct", plan };
  const part = { experiment, notes: [], items: [] };
  const judged = [23, 8, 12].map((id) => ({
    claim: { id } as Claim,
    ...judgeParts([{ cells: [{ label: "", runs: [1, 2] }] }], {
      missing: MISSING[id]!,
    }),
  }));

  it("name the stand-ins for the paper's data with their claims, and the encoders that were not run", () => {
    const absent = [
      { name: "e5b", reason: "its weights are not here" },
      { name: "mpnet", reason: "not requested" },
      { name: "OpenAItext", reason: "not requested" },
    ];
    const encoders = ["MiniLM", "static"].map((name) => ({ name, identity: "", epochs: [] }));
    expect(
      caveatsOf({ parts: [{ ...part, standIn: "other prompts" }], judged }, { absent, encoders }),
    ).toEqual([
      "In place of the paper's data: for MixInstruct (claim 23): other prompts.",
      "Of the paper's encoders only MiniLM was run. Not run: e5b (its weights are not here); mpnet, OpenAItext (not requested).",
      "Claims about OpenAItext (claims 8, 23) cannot be tested without it; the prompts or vectors of each encoder itself stand in for it.",
      "The paper's evidence for some claims (claim 12) is e5b alone; the encoders that were run stand in for it.",
    ]);
    expect(caveatsOf({ parts: [part], judged: [] }, { absent: [], encoders: [] })).toEqual([]);
  });
});
