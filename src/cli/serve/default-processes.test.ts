import { expect, it } from "vitest";
import { defaultProcesses, machine } from "./default-processes.ts";

it.each([
  [2, 8e9, 2],
  [64, 64e9, 8],
  [8, 2 ** 30, 4],
  [8, 2 ** 29, 2],
  [8, 2 ** 28, 1],
  [1, 8e9, 1],
])("%d cores and %d bytes of memory: %d processes by default", (cores, memory, processes) => {
  expect(defaultProcesses({ cores, memory })).toBe(processes);
});

it("reads the cores and the memory of this machine", () => {
  const { cores, memory } = machine();
  expect(cores).toBeGreaterThanOrEqual(1);
  expect(memory).toBeGreaterThan(1e6);
  expect(memory).toBeLessThan(1e15);
});
