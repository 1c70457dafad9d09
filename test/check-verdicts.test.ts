/** The script that repeats the verdicts agrees with the published results and notices altered numbers. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ReproduceRecord } from "../src/lab/reproduce/record.ts";

const EXPERIMENTS = resolve(import.meta.dirname, "../experiments");
const SCRIPT = join(EXPERIMENTS, "check-verdicts.mjs");
const folder = mkdtempSync(join(tmpdir(), "joust-verdicts-"));
afterAll(() => rmSync(folder, { recursive: true }));

type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> };

function check(record: unknown) {
  const file = join(folder, "reproduce.json");
  writeFileSync(file, JSON.stringify(record));
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, file], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

it("the script has fewer than 100 lines and imports nothing of the project", () => {
  const text = readFileSync(SCRIPT, "utf8");
  expect(text.trimEnd().split("\n").length).toBeLessThan(100);
  expect([...text.matchAll(/\bimport\b.*/g)].map(([line]) => line)).toEqual([
    'import { readFileSync } from "node:fs";',
  ]);
});

/** Results of the first schema have no runs of cells. */
const RESULTS = ["quick", "full"]
  .map((name) => ({
    name,
    text: readFileSync(join(EXPERIMENTS, "expected", name, "reproduce.json"), "utf8"),
  }))
  .filter(({ text }) => !text.startsWith('{"schema":1,'));

it("some results hold the runs of their cells", () => {
  expect(RESULTS.length).toBeGreaterThan(0);
});

describe.each(RESULTS)("the $name results", ({ text }) => {
  const read = () => JSON.parse(text) as Mutable<ReproduceRecord>;
  const alter = (change: (record: Mutable<ReproduceRecord>) => void) => {
    const record = read();
    change(record);
    return check(record);
  };
  const claim = (record: Mutable<ReproduceRecord>, id: number) =>
    record.claims.find((one) => one.id === id)!;

  it("have verdicts that follow from their numbers", () => {
    const { status, stdout, stderr } = check(read());
    expect(stdout + stderr).toContain("Every verdict is the same.");
    expect(status).toBe(0);
    for (const { id, verdict } of read().claims) expect(stdout).toContain(`${id}: ${verdict}`);
  });

  it("are refused if a verdict, a run of a cell, a pooled bound or a run of a curve is altered", () => {
    const verdict = alter((record) => {
      claim(record, 9).verdict = "refuted";
    });
    expect(verdict.stdout).toMatch(/claim 9: refuted is printed, \w+ is found/);
    const cell = alter((record) => {
      claim(record, 31).parts[0]!.cells[0]!.runs[0]! += 100;
    });
    expect(cell.stdout).toMatch(/claim 31 , pooled: .* is printed/);
    const bound = alter((record) => {
      claim(record, 18).parts[0]!.pooled.hi! += 0.1;
    });
    expect(bound.stdout).toMatch(/claim 18 , pooled/);
    const curve = alter((record) => {
      const [index] = claim(record, 18).parts[0]!.cells[0]!.curves!;
      record.curves[index!]!.regret.runs[0]! += 0.1;
    });
    expect(curve.stdout).toMatch(/claim 18, .*, run 0: .* is printed/);
    for (const { status } of [verdict, cell, bound, curve]) expect(status).toBe(1);
  });
});
