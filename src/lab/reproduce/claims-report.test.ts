import { describe, expect, it } from "vitest";
import { caveatsOf, headlinesTable } from "./claims-report.ts";
import type { Claim } from "./experiment.ts";
import { newPlanner, resultsOf } from "./results.fixture.ts";
import { decide, untestable } from "./verdict.ts";

describe("caveats", () => {
  const plan = () => Promise.reject(new Error("planned already"));
  const experiment = { name: "mixinstruct", title: "MixInstruct", plan };
  const part = { experiment, notes: [], items: [] };
  const judged = [23, 8].map((id) => ({
    claim: { id } as Claim,
    ...untestable(""),
    standIns: id === 8 ? ["OpenAItext"] : ["OpenAItext", "MixInstruct"],
  }));

  it("name the stand-ins for the paper's data with their claims, and the encoders that were not run", () => {
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
      "Of the paper's encoders only MiniLM was run. Not run: e5b (its weights are not here); mpnet, OpenAItext (not asked for).",
      "Where the paper compares with OpenAItext (claims 8, 23), each encoder's own prompts or vectors stand in for it.",
    ]);
    expect(caveatsOf({ parts: [part], judged: [] }, { absent: [], encoders: [] })).toEqual([]);
  });
});

describe("the table of headlines", () => {
  const show = () => ({
    setting: "one setting",
    lines: [
      { name: "exp", regrets: [[1, 2], undefined] },
      { name: "ctrl", regrets: [[3], [4]] },
    ],
    baselines: [{ name: "random", regrets: [[5], [5]] }],
  });
  const claim = (id: number): Claim => ({
    id,
    place: "",
    statement: "",
    needs: [],
    criterion: "",
    test: () => untestable(""),
    headline: { says: `says ${id}`, show },
  });

  it("has a row for each claim with a headline: verdict, cells, mean regrets", async () => {
    const results = resultsOf(await newPlanner(), []);
    const cell = { label: "", differences: [-1, -1.1] };
    const judged = [
      { claim: claim(9), ...decide([cell, { ...cell, differences: [1, -1] }]) },
      { claim: { id: 3 } as Claim, ...untestable("") },
    ];
    expect(headlinesTable(judged, results)!.rows).toEqual([
      [
        "9",
        "says 9",
        "does not hold (not shown)",
        "1 of 2",
        "one setting",
        "exp 1.5 / \u2013;\nctrl 3.0 / 4.0",
        "random 5.0",
      ],
    ]);
    expect(headlinesTable(judged.slice(1), results)).toBeUndefined();
  });
});
