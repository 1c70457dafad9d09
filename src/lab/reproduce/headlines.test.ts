import { describe, expect, it } from "vitest";
import type { Claim } from "./experiment.ts";
import { headlinesTable } from "./headlines.ts";
import { newBench, resultsOf } from "./results.fixture.ts";
import { decide, untestable } from "./verdict.ts";

describe("the table of headlines", () => {
  const show = () => ({
    world: "one world",
    lines: [
      { name: "exp", regrets: [[1, 2], undefined] },
      { name: "ctrl", regrets: [[3], [4]] },
    ],
    beside: [{ name: "random", regrets: [[5], [5]] }],
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
    const results = resultsOf(await newBench(), []);
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
        "one world",
        "exp 1.5 / \u2013;\nctrl 3.0 / 4.0",
        "random 5.0",
      ],
    ]);
    expect(headlinesTable(judged.slice(1), results)).toBeUndefined();
  });
});
