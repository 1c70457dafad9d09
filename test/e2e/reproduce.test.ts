import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { describeWithShared, shared } from "../../src/core/encoder/shared.fixture.ts";
import { describeWithPublicData, publicData } from "../../src/lab/data/real-data.fixture.ts";
import type { Table } from "../../src/lab/report/table.ts";
import { settingText } from "../../src/lab/reproduce/curve.ts";
import type { ReproduceRecord } from "../../src/lab/reproduce/record.ts";
import { joust, newFolder, ROOT, start } from "./joust.fixture.ts";

const EXPECTED = read(join(ROOT, "experiments/expected/quick/reproduce.json"));
const FULL = read(join(ROOT, "experiments/expected/full/reproduce.json"));

function read(path: string): ReproduceRecord {
  return JSON.parse(readFileSync(path, "utf8")) as ReproduceRecord;
}

type RecordedCurve = ReproduceRecord["curves"][number];

/** Policies that learn nothing: their regret depends on the data, the draws and the stream only. */
const BLIND = ["random", "best-fixed"];
/**
 * zero-feedback does not learn either, but it uses embeddings, which are equal on one
 * machine and nearly equal on different machines.
 */
const EXACT = [...BLIND, "zero-feedback"];

describe("joust reproduce mmlu --quick --runs 1", () => {
  it("interrupted, killed and started again gives the expected results", async () => {
    const [out, cache] = [join(newFolder(), "out"), newFolder()];
    const args = ["reproduce", "mmlu", "--quick", "--runs", "1", "--out", out, "--cache", cache];
    const done = () => globSync("*/*.json", { cwd: cache }).filter((name) => !/^work/.test(name));
    const whenDone = async (count: number) => {
      while (done().length < count) await pause(50);
    };

    const first = start(args);
    await whenDone(4);
    first.kill("SIGINT");
    expect(await first.end).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/run the same command again to continue/),
    });
    const kept = done();
    expect(kept.length).toBeGreaterThanOrEqual(4);

    const second = start(args);
    await whenDone(kept.length + 4);
    second.kill("SIGKILL");
    expect(await second.end).toMatchObject({ signal: "SIGKILL" });

    const third = await joust(...args, "--json");
    expect(third.code, third.stderr).toBe(0);
    const record = JSON.parse(third.stdout) as ReproduceRecord;
    expect(record).toEqual(read(join(out, "reproduce.json")));
    compare(record, EXPECTED);

    // All results are cached: no job runs again, and nothing differs.
    const before = done();
    const again = await joust(...args, "--json");
    expect(again.stdout).toBe(third.stdout);
    expect(done()).toEqual(before);

    // The published results give the same report without a cache, and nothing is run.
    const [runs, empty] = [newFolder(), newFolder()];
    expect((await joust(...args, "--publish", runs)).stdout).toMatch(
      /^mmlu: (\d+) of \1 jobs are published\n$/,
    );
    const elsewhere = [...args.slice(0, -1), empty, "--published", runs, "--json"];
    expect((await joust(...elsewhere)).stdout).toBe(third.stdout);
    expect(globSync("*/*.json", { cwd: empty })).toEqual([]);

    // One curve alone, from the same cache.
    const [curve] = record.curves;
    const alone = await joust(...args, "--curve", curve!.name, "--json");
    expect(alone.code).toBe(0);
    expect(JSON.stringify(JSON.parse(alone.stdout).rows)).toContain(curve!.name);
    expect(done()).toEqual(before);
  });
});

/**
 * Expects the same data and curves. The first run of policies that do not learn must be equal; the
 * first run of the others must be near the same run, so that a policy may change single choices
 * without becoming better or worse.
 */
function compare(record: ReproduceRecord, expected: ReproduceRecord): void {
  const own = expected.curves.filter(({ experiment }) => /mmlu|linear/.test(experiment));
  const nameOf = ({ experiment, name, form, variant }: (typeof own)[number]) =>
    [experiment, name, form, variant].join("|");
  expect(record.curves.map(nameOf)).toEqual(own.map(nameOf));
  for (const { name, sha256 } of record.data)
    expect(expected.data).toContainEqual({ name, sha256 });
  for (const [i, { policy, regret }] of record.curves.entries()) {
    const label = nameOf(own[i]!);
    if (BLIND.includes(policy)) expect(regret.runs, label).toEqual(own[i]!.regret.runs.slice(0, 1));
    else expectNear(regret.mean, own[i]!, label);
  }
}

/** Within 10% of the same run, or within the interval of the expected mean if that is wider. */
function expectNear(regret: number, { regret: { lo, hi, runs } }: RecordedCurve, label: string) {
  const same = runs[0]!;
  expect(regret, label).toBeGreaterThanOrEqual(Math.min(lo!, 0.9 * same));
  expect(regret, label).toBeLessThanOrEqual(Math.max(hi!, 1.1 * same));
}

// The lengths of the curves depend on the main encoder, which must be MiniLM.
describeWithPublicData("curves of the full run", () => {
  describeWithShared("run 1 again", ["models/all-MiniLM-L6-v2"], () => {
    // The curves of FGTS.CDB in the full run have the settings of version 0.1.
    it.each([
      ["routerbench", "zero-feedback on static_E10", 3],
      ["mixinstruct", "joust on static_E10", 4],
      ["mixinstruct", "zero-feedback on static_E10", 4],
    ])("%s: %s", async (experiment, name, worlds) => {
      const [cache, out] = [newFolder(), newFolder()];
      const places = ["--data", publicData(""), "--models", shared("models"), "--cache", cache];
      const once = ["--curve", name, "--runs", "1", "--json", "--out", out];
      const { code, stdout, stderr } = await joust("reproduce", experiment, ...places, ...once);
      expect(code, stderr).toBe(0);
      const { columns, rows } = JSON.parse(stdout) as Table;
      expect(rows).toHaveLength(worlds);
      for (const row of rows) {
        const cell = (key: string) => row[columns.findIndex((column) => column.key === key)];
        const [expected, ...others] = FULL.curves.filter(
          (curve) =>
            curve.experiment === experiment &&
            curve.name === cell("curve") &&
            settingText(curve) === cell("setting") &&
            curve.voteScale === cell("vote_scale"),
        );
        expect(others).toEqual([]);
        const { rounds, regret, policy } = expected!;
        const { mean } = cell(`regret_${rounds}`) as { mean: number };
        const label = `${name}, ${settingText(expected!)}`;
        if (EXACT.includes(policy)) expect(Number(mean.toPrecision(6)), label).toBe(regret.runs[0]);
        else expectNear(mean, expected!, label);
      }
    });
  });
});

it("an unknown curve and an unknown experiment are refused at once", async () => {
  const args = ["--quick", "--out", newFolder(), "--cache", newFolder()];
  const curve = await joust("reproduce", "mmlu", ...args, "--curve", "static_E10_man");
  expect(curve).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/did you mean "static_E10_mean"/),
  });
  expect(await joust("reproduce", "mmlu", "unsen", ...args)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/there is no "unsen"\n.*did you mean "unseen"/),
  });
  const runs = await joust("reproduce", ...args, "--runs", "3,imagenet=5");
  expect(runs).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/"imagenet" is not one of/),
  });
  const jobs = async (...names: string[]) =>
    Number.parseInt((await joust("reproduce", ...names, "--dry-run", ...args)).stdout, 10);
  const [one, both] = [await jobs("mmlu"), await jobs("mmlu", "mixinstruct")];
  expect(both).toBeGreaterThan(one + 20);
});
