import { describe, expect, it } from "vitest";
import { caveatsOf } from "./caveats.ts";

describe("what is to be read before any number", () => {
  const plan = () => Promise.reject(new Error("planned already"));
  const experiment = { name: "mixinstruct", title: "MixInstruct", plan };
  const part = { experiment, notes: [], exhibits: [] };

  it("names what stands in for the paper's data, and which encoders were not run", () => {
    const absent = [
      { name: "MiniLM", reason: "not asked for" },
      { name: "e5b", reason: "its weights are not here" },
      { name: "mpnet", reason: "not asked for" },
    ];
    expect(caveatsOf({ parts: [{ ...part, standIn: "other prompts" }] }, { absent })).toEqual([
      "In place of the paper's data: for MixInstruct other prompts.",
      "Encoders of the paper that were not run: MiniLM, mpnet (not asked for); e5b (its weights are not here).",
    ]);
    expect(caveatsOf({ parts: [part] }, { absent: [] })).toEqual([]);
  });
});
