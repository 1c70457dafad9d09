import { expect, it } from "vitest";
import type { Run } from "../../lab/simulate/run.ts";
import { progressLine } from "./heading.ts";

const run = (regret: number) => ({ curve: [0, regret] }) as Partial<Run> as Run;
const POLICIES = ["oracle", "joust", "random"];
const RUNS = [
  [run(0), run(0), run(0)],
  [run(4), undefined, run(2)],
  [run(6), run(1), run(2)],
];

it("shows the progress, the time left and the best policy except the oracle", () => {
  const progress = { done: 8, total: 16, millisecondsLeft: 61_200, runs: RUNS };
  expect(progressLine(progress, POLICIES)).toBe(
    "[==========          ] 8/16 runs, 1 min 2 s left, best so far joust (regret 3.0)",
  );
});

it("leaves out what is not known yet", () => {
  const runs = POLICIES.map(() => [undefined]);
  const progress = { done: 0, total: 3, millisecondsLeft: undefined, runs };
  expect(progressLine(progress, POLICIES)).toBe("[                    ] 0/3 runs");
});
