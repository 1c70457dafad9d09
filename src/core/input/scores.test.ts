import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../errors/error-text.fixture.ts";
import { readScores, tabulate } from "./scores.ts";

function fileOf(lines: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-scores-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "scores.csv");
  writeFileSync(file, `${lines.join("\n")}\n`);
  return file;
}

async function errorsOf(...lines: string[]) {
  return tabulate(await readScores(fileOf(lines)), ["a", "b"], ["x"]).errors;
}

describe("the precision of scores", () => {
  it("is a standard error in the column se; an empty cell is an unknown error", async () => {
    const errors = await errorsOf("model,se,category,perf,cost", "a,0.02,x,0.5,1", "b,,x,0.5,1");
    expect(errors).toEqual([Float64Array.of(0.02), Float64Array.of(Number.NaN)]);
  });

  it("follows from the number of queries in the column n, and is above 0 for a perfect score", async () => {
    const errors = await errorsOf("model,category,perf,cost,N", "a,x,0.5,1,98", "b,x,1,1,98");
    expect(errors![0]![0]).toBeCloseTo(Math.sqrt(0.25 / 98), 10);
    expect(errors![1]![0]).toBeCloseTo(Math.sqrt((0.99 * 0.01) / 98), 10);
  });

  it("is undefined if the file has neither column, or no value in it", async () => {
    expect(await errorsOf("model,category,perf,cost", "a,x,0.5,1", "b,x,0.5,1")).toBeUndefined();
    expect(await errorsOf("model,category,perf,cost,n", "a,x,0.5,1,", "b,x,0.5,1")).toBeUndefined();
  });

  it.each([
    [
      ["model,category,perf,cost,se", "a,x,0.5,1,-0.1"],
      /:2: field "se": is -0.1; hint: a standard/,
    ],
    [["model,category,perf,cost,n", "a,x,0.5,1,0"], /:2: field "n": is 0; hint: n counts/],
    [["model,category,perf,cost,n", "a,x,0.5,1,many"], /:2: field "n": is "many", not a number/],
    [["model,category,perf,cost,n,se", "a,x,0.5,1,2,0.1"], /:1: field "se": .*beside n/],
  ])("refuses %j", async (lines, message) => {
    await expect(readScores(fileOf(lines))).rejects.toThrow(errorText(message));
  });
});
