import { expect, it } from "vitest";
import type { Run } from "../../lab/simulate/run.ts";
import { progressBar, progressLine } from "./heading.ts";

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

it("draws one line no wider than the terminal, and nothing in a pipe", () => {
  let written = "";
  const write = (text: string) => {
    written += text;
  };
  const progress = { done: 8, total: 16, millisecondsLeft: 1000, runs: RUNS };
  expect(progressBar({ write }, POLICIES)).toBeUndefined();
  const bar = progressBar({ isTTY: true, columns: 30, write }, POLICIES)!;
  bar.show(progress);
  expect(written).toBe("\r\x1b[2K[==========          ] 8/16 r");
  written = "";
  bar.clear();
  expect(written).toBe("\r\x1b[2K");
});
