import { expect, it } from "vitest";
import type { Curve } from "./curve.ts";
import type { Claim } from "./experiment.ts";
import { openingOf } from "./opening.ts";
import { newPlanner, resultsOf, runValue } from "./results.fixture.ts";
import { judgeParts } from "./verdict.ts";

const ROUNDS = 160;

/** Curves of one form whose regrets after 160 rounds are the given numbers. */
function formOf(form: string, { zero, joust }: { zero: number; joust: readonly number[] }) {
  const line = (curve: Partial<Curve>, regret: number) => ({
    curve: { form, ...curve },
    runs: [1, 2].map(() => runValue(ROUNDS, () => regret / ROUNDS)),
  });
  const baseline = { group: "baseline", weighting: "" } as const;
  return joust.flatMap((regret, i) => {
    const voteScale = [1, 10][i]!;
    return [
      line({ ...baseline, policy: "zero-feedback", name: "zero-feedback", voteScale }, zero),
      line({ ...baseline, policy: "joust", name: "joust", voteScale }, regret),
      line({ voteScale }, 20 + 40 * i),
      line({ voteScale, group: "ctrl", name: "MiniLM_E4_Excel_perf_cost_ctrl" }, 90),
    ];
  });
}

it("the first sentences have the regrets of the curves, and a verdict for each half of metadata", async () => {
  const results = resultsOf(await newPlanner(), [
    ...formOf("rbprompt", { zero: 3, joust: [8, 5] }),
    ...formOf("natural", { zero: 12, joust: [10, 6] }),
  ]);
  const cell = (metadata: string, runs: number[]) => ({ label: "", metadata, runs });
  const cells = [cell("none", [-9, -11]), cell("raw", [-20, 26])];
  const judged = [{ claim: { id: 9 } as Claim, ...judgeParts([{ cells }]) }];
  const { sentences } = openingOf({ results, judged, parts: [] })!;
  expect(sentences[0]).toMatch(
    /^Without appended metadata, .* is −10\.0.* With the metadata, as in the paper, it does not clearly change .* is 3\.0 /,
  );
  expect(sentences[1]).toContain("(zero-feedback) has a regret of 3.0");
  expect(sentences[1]).toContain("joust 5.0 to 8.0, and");
  expect(sentences[1]).toContain("Excel_perf_cost, fine-tuned, 20.0 to 60.0");
  expect(sentences[1]).toContain(
    "the order is reversed: zero-feedback has 12.0 and joust 6.0 to 10.0.",
  );
});
