import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { temporaryFolder } from "../../core/input/folder.fixture.ts";
import { Journal } from "./journal.ts";
import type { Run } from "./run.ts";

const write = temporaryFolder();
const CONDITIONS = { seed: 1, told: { kind: "scores" }, models: ["a", "b"], left: undefined };
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
  const journal = await Journal.create(file, CONDITIONS);
  await journal.put("3", { value: RUN });
  return file;
}

describe("a file with finished runs", () => {
  it("is overwritten only on request, and the error says how to continue or to start again", async () => {
    const file = await begun("kept");
    const before = readFileSync(file, "utf8");
    await expect(Journal.create(file, CONDITIONS)).rejects.toThrow(
      errorText(
        /runs\.jsonl: holds one finished run of this simulation; hint: .*--resume.*--overwrite/,
      ),
    );
    await (await Journal.resume(file, CONDITIONS)).put("4", { value: RUN });
    await expect(Journal.create(file, CONDITIONS)).rejects.toThrow(/holds 2 finished runs/);
    await expect(Journal.create(file, { ...CONDITIONS, seed: 2 })).rejects.toThrow(
      errorText(/field "seed": was 1, is now 2.*another simulation; hint: .*--overwrite/),
    );
    expect(readFileSync(file, "utf8").startsWith(before)).toBe(true);
  });

  it("is overwritten on request, even under other conditions", async () => {
    const file = await begun("over");
    const conditions = { ...CONDITIONS, seed: 2 };
    const journal = await Journal.overwrite(file, conditions);
    expect(journal.run("3")).toBeUndefined();
    expect((await Journal.resume(file, conditions)).run("3")).toBeUndefined();
  });

  it("is overwritten if no run in it is finished", async () => {
    const file = write("unfinished/runs.jsonl", "");
    await Journal.create(file, { ...CONDITIONS, seed: 2 });
    await (await Journal.create(file, CONDITIONS)).put("0", { value: RUN });
    expect((await Journal.resume(file, CONDITIONS)).run("0")).toEqual(RUN);
  });
});

it("does not mix in runs of other code, whatever else has changed", async () => {
  const file = write("version/runs.jsonl", "");
  await (await Journal.create(file, { ...CONDITIONS, code: "abc" })).put("0", { value: RUN });
  const now = { ...CONDITIONS, code: "def", seed: 2 };
  const message = errorText(
    /field "code": the program has changed since .*hint: .*--out.*--overwrite/,
  );
  await expect(Journal.resume(file, now)).rejects.toThrow(message);
  await expect(Journal.create(file, now)).rejects.toThrow(message);
});

it("finds the runs that were added, bit for bit, and no others", async () => {
  const journal = await Journal.resume(await begun("again"), CONDITIONS);
  expect(journal.run("3")).toEqual(RUN);
  expect((await journal.get("3")).value).toEqual(RUN);
  expect(await journal.find("3")).toMatch(/^[0-9a-f]{64}$/);
  expect(await journal.find("2")).toBeUndefined();
});

it("can do without a file", async () => {
  const journal = Journal.inMemory();
  await journal.put("3", { value: RUN });
  expect(journal.run("3")).toEqual(RUN);
});

it("drops a line that a crash has cut short at any place", async () => {
  const file = await begun("torn");
  const whole = readFileSync(file);
  await (await Journal.resume(file, CONDITIONS)).put("4", { value: RUN });
  const both = readFileSync(file);
  for (let length = whole.length; length < both.length; length += 7) {
    writeFileSync(file, both.subarray(0, length));
    const journal = await Journal.resume(file, CONDITIONS);
    expect(journal.run("3")).toEqual(RUN);
    expect(journal.run("4")).toBeUndefined();
    await journal.put("4", { value: RUN });
    expect(readFileSync(file)).toEqual(both);
  }
});

it("starts a file if there is none, or no complete line in it", async () => {
  for (const content of [undefined, "", '{"conditions":']) {
    const file = write("none/other.txt", "").replace("other.txt", "runs.jsonl");
    if (content !== undefined) writeFileSync(file, content);
    const journal = await Journal.resume(file, CONDITIONS);
    await journal.put("0", { value: RUN });
    expect((await Journal.resume(file, CONDITIONS)).run("0")).toEqual(RUN);
  }
});

it("refuses other conditions and says what has changed", async () => {
  const file = await begun("changed");
  const resume = (conditions: object) => Journal.resume(file, { ...CONDITIONS, ...conditions });
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
      await expect(open(file, CONDITIONS)).rejects.toThrow(
        errorText(/runs\.jsonl:3: is damaged; hint: delete that line .* or add --overwrite/),
      );
    }
  }
  writeFileSync(file, '{"conditions":?\n');
  await expect(Journal.resume(file, CONDITIONS)).rejects.toThrow(
    errorText(/runs\.jsonl:1: is damaged; hint: cho/),
  );
});

it("leaves a file alone that is not the record of a simulation", async () => {
  for (const content of ["old", '{"id":1}\n']) {
    const file = write("foreign/runs.jsonl", content);
    for (const open of [Journal.create, Journal.resume]) {
      await expect(open(file, CONDITIONS)).rejects.toThrow(
        errorText(/is not the record of a .*hint: .*--overwrite/),
      );
    }
    expect(readFileSync(file, "utf8")).toBe(content);
  }
});

it("refuses a place that cannot be written", async () => {
  const file = write("file", "");
  await expect(Journal.create(`${file}/runs.jsonl`, CONDITIONS)).rejects.toThrow(
    errorText(/: cannot be written \(E.*hint: choose another --out/),
  );
  if (!existsSync("/proc/self")) return;
  await expect(Journal.create("/proc/new/folder/runs.jsonl", CONDITIONS)).rejects.toThrow(
    /^\/proc\/new: cannot be written \(E/,
  );
});
