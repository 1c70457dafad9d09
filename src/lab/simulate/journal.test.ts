import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import type { PolicySpec } from "../policies/policy-spec.ts";
import { Journal } from "./journal.ts";
import type { Run } from "./run.ts";

const write = temporaryFolder();
const WORLD = { seed: 1, told: { kind: "scores" }, models: ["a", "b"], left: undefined };
const POLICY: PolicySpec = { name: "random", kind: "random", options: {}, router: {} };
const RUN: Run = {
  curve: [0.1, 1 / 3],
  regretPerf: 2,
  scorePerQuery: 0.5,
  costPerQuery: null,
  agreement: 0.5,
  decisionMicros: { p50: 1, p99: 2 },
  updateMicros: { p50: 1, p99: 2 },
};

async function begun(name: string): Promise<string> {
  const file = write(`${name}/runs.jsonl`, "");
  const journal = await Journal.create(file, WORLD);
  journal.add(POLICY, 3, RUN);
  return file;
}

describe("where there are finished runs", () => {
  it("refuses to begin, and says how to go on and how to begin anew", async () => {
    const file = await begun("kept");
    const before = readFileSync(file, "utf8");
    await expect(Journal.create(file, WORLD)).rejects.toThrow(
      errorText(
        /runs\.jsonl: holds a finished run of this simulation; hint: .*--resume.*--overwrite/,
      ),
    );
    (await Journal.resume(file, WORLD)).add(POLICY, 4, RUN);
    await expect(Journal.create(file, WORLD)).rejects.toThrow(/holds 2 finished runs/);
    await expect(Journal.create(file, { ...WORLD, seed: 2 })).rejects.toThrow(
      errorText(/field "seed": was 1, is now 2.*another simulation; hint: .*--overwrite/),
    );
    expect(readFileSync(file, "utf8").startsWith(before)).toBe(true);
  });

  it("begins anew over them if told to, also over those of another world", async () => {
    const file = await begun("over");
    const world = { ...WORLD, seed: 2 };
    const journal = await Journal.overwrite(file, world);
    expect(journal.find(POLICY, 3)).toBeUndefined();
    expect((await Journal.resume(file, world)).find(POLICY, 3)).toBeUndefined();
  });

  it("begins where none is finished: there is nothing to lose", async () => {
    const file = write("unfinished/runs.jsonl", "");
    await Journal.create(file, { ...WORLD, seed: 2 });
    (await Journal.create(file, WORLD)).add(POLICY, 0, RUN);
    expect((await Journal.resume(file, WORLD)).find(POLICY, 0)).toEqual(RUN);
  });
});

it("does not mix in the runs of another version of the program, whatever else has changed", async () => {
  const file = write("version/runs.jsonl", "");
  (await Journal.create(file, { ...WORLD, code: "abc" })).add(POLICY, 0, RUN);
  const now = { ...WORLD, code: "def", seed: 2 };
  const message = /field "code": the program has changed since .*hint: .*--out.*--overwrite/;
  await expect(Journal.resume(file, now)).rejects.toThrow(errorText(message));
  await expect(Journal.create(file, now)).rejects.toThrow(errorText(message));
});

it("finds what was added, bit for bit, and nothing else", async () => {
  const journal = await Journal.resume(await begun("again"), WORLD);
  expect(journal.find(POLICY, 3)).toEqual(RUN);
  expect(journal.find({ ...POLICY, name: "the same by another name" }, 3)).toEqual(RUN);
  expect(journal.find(POLICY, 2)).toBeUndefined();
  expect(journal.find({ ...POLICY, options: { n: 1 } }, 3)).toBeUndefined();
  expect(journal.find({ ...POLICY, router: { pending: 0 } }, 3)).toBeUndefined();
  const module = { url: "file:///mine.ts", sha256: "0" };
  expect(journal.find({ ...POLICY, module }, 3)).toBeUndefined();
});

it("drops a line that a crash has cut short, wherever it was cut", async () => {
  const file = await begun("torn");
  const whole = readFileSync(file);
  (await Journal.resume(file, WORLD)).add(POLICY, 4, RUN);
  const both = readFileSync(file);
  for (let length = whole.length; length < both.length; length += 7) {
    writeFileSync(file, both.subarray(0, length));
    const journal = await Journal.resume(file, WORLD);
    expect(journal.find(POLICY, 3)).toEqual(RUN);
    expect(journal.find(POLICY, 4)).toBeUndefined();
    journal.add(POLICY, 4, RUN);
    expect(readFileSync(file)).toEqual(both);
  }
});

it("begins where there is no file, or nothing whole in it", async () => {
  for (const content of [undefined, "", '{"world":']) {
    const file = write("none/other.txt", "").replace("other.txt", "runs.jsonl");
    if (content !== undefined) writeFileSync(file, content);
    const journal = await Journal.resume(file, WORLD);
    journal.add(POLICY, 0, RUN);
    expect((await Journal.resume(file, WORLD)).find(POLICY, 0)).toEqual(RUN);
  }
});

it("refuses another world and says what has changed", async () => {
  const file = await begun("changed");
  const resume = (world: object) => Journal.resume(file, { ...WORLD, ...world });
  await expect(resume({ seed: 2 })).rejects.toThrow(
    errorText(/runs\.jsonl:1: field "seed": was 1, is now 2.*hint: .*--out/),
  );
  await expect(resume({ models: ["a"] })).rejects.toThrow(/"models": was \["a","b"\]/);
  await expect(resume({ ties: 1 })).rejects.toThrow(/"ties": was not set, is now 1/);
});

it("names the line that is damaged", async () => {
  const file = await begun("damaged");
  const before = readFileSync(file, "utf8");
  for (const line of ["?", "{}", '{"key":"a"}', "null"]) {
    writeFileSync(file, `${before}${line}\n`);
    for (const open of [Journal.create, Journal.resume]) {
      await expect(open(file, WORLD)).rejects.toThrow(
        errorText(/runs\.jsonl:3: is damaged; hint: delete that line, .* or add --overwrite/),
      );
    }
  }
  writeFileSync(file, '{"world":?\n');
  await expect(Journal.resume(file, WORLD)).rejects.toThrow(
    errorText(/runs\.jsonl:1: is damaged; hint: cho/),
  );
});

it("leaves a file alone that is no record of a simulation", async () => {
  for (const content of ["old", '{"id":1}\n']) {
    const file = write("foreign/runs.jsonl", content);
    for (const open of [Journal.create, Journal.resume]) {
      await expect(open(file, WORLD)).rejects.toThrow(
        errorText(/is not the record of a .*hint: .*--overwrite/),
      );
    }
    expect(readFileSync(file, "utf8")).toBe(content);
  }
});

it("says so where nothing can be written", async () => {
  const file = write("file", "");
  await expect(Journal.create(`${file}/runs.jsonl`, WORLD)).rejects.toThrow(
    errorText(/: cannot be written \(E.*hint: choose another --out/),
  );
  if (!existsSync("/proc/self")) return;
  await expect(Journal.create("/proc/new/folder/runs.jsonl", WORLD)).rejects.toThrow(
    /^\/proc\/new: cannot be written \(E/,
  );
});
