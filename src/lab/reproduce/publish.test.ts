import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { settingOf } from "../experiments/routerbench-setting.ts";
import type { Kinds } from "../jobs/job.ts";
import { LocalWorkers, PLACES } from "../jobs/local-workers.fixture.ts";
import { PublishedFolder } from "../jobs/published.ts";
import { runPlan } from "../jobs/run-plan.ts";
import { FolderStore } from "../jobs/store.ts";
import { findDataSets } from "./data-sets.ts";
import { findEncoders } from "./encoders.ts";
import type { Suite } from "./experiment.ts";
import KINDS from "./jobs/kinds.ts";
import { OWN } from "./jobs/own.fixture.ts";
import type { ProjectValue, RunSpec, RunValue } from "./jobs/specs.ts";
import { QUICK } from "./planner.ts";
import { publish } from "./publish.ts";
import { curvesFigure } from "./report-items.ts";
import { plan, reproduce } from "./reproduce.ts";
import { weighted } from "./setting.ts";
import { packValue, shownValue, unpackValue } from "./shown-values.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-publish-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** FGTS.CDB and joust on fine-tuned vectors, random on the original ones. */
const SUITE: Suite = {
  experiments: [
    {
      name: "small",
      title: "Small",
      async plan(planner) {
        const setting = settingOf(planner, "own", OWN, 5, { experiment: "small" });
        const models = weighted("excel_perf_cost");
        const state = { encoder: planner.main, epochs: 1, rounds: 40 };
        const common = { state, voteScale: 10, models };
        setting.curve({ ...common, group: "exp" });
        const own = { ...common, group: "baseline" } as const;
        setting.curve({ ...own, name: "joust", policy: { kind: "joust", options: {} } });
        const random = { kind: "random", options: {} };
        setting.curve({ ...own, state: { ...state, epochs: 0 }, name: "random", policy: random });
        const figure = { id: "f", title: "F", caption: "", curves: planner.curves };
        return { notes: [], items: [curvesFigure(figure)] };
      },
    },
  ],
  claims: [],
};

const data = await findDataSets(undefined);
const encoders = await findEncoders(["static"], PLACES);
const planned = (runs: number) =>
  plan(SUITE, ["small"], { data, encoders, size: { ...QUICK, runs }, seed: 1 });

/** Reproduces from an empty cache. */
async function reproduceAfresh(runs: number, published?: PublishedFolder) {
  const store = new FolderStore(newFolder());
  const workers = new LocalWorkers(store, KINDS, { files: data.paths });
  const out = join(newFolder(), "out");
  const record = { command: "joust reproduce", encoders, version: "1" };
  await reproduce(await planned(runs), { store, workers, published, out, ...record });
  const files = ["reproduce.json", "report.html", "figures/f.svg"];
  return {
    store,
    report: files.map((name) => readFileSync(join(out, name), "utf8")),
    done: workers.done.map(({ kind, spec }) => [kind, (spec as RunSpec).policy?.kind ?? ""]),
  };
}

it("published runs replace computed ones, and a further run computes only its own jobs", async () => {
  const computed = await reproduceAfresh(2);
  expect(computed.done.filter(([kind]) => kind === "fit")).toHaveLength(2);
  const { planner } = await planned(2);
  const folder = newFolder();
  const options = { folder, name: "small" };
  const count = await publish(planner.plan, { ...options, store: computed.store });
  expect(count).toEqual({ total: computed.done.length, finished: computed.done.length });
  expect(readdirSync(folder)).toEqual(
    ["all-runs", "run-01", "run-02"].map((name) => `small-${name}.jsonl.gz`),
  );
  // Neither texts nor vectors are published.
  const first = gunzipSync(readFileSync(join(folder, "small-run-01.jsonl.gz"))).toString();
  expect(first).not.toMatch(/offline|texts/);
  expect(first.trim().split("\n")).toHaveLength(2 + 3);

  const published = await PublishedFolder.open(folder);
  const again = await reproduceAfresh(2, published);
  expect(again.done).toEqual([]);
  expect(again.report).toEqual(computed.report);

  // From published runs alone, the same can be published.
  const copy = newFolder();
  const none = new FolderStore(newFolder());
  await publish(planner.plan, { ...options, folder: copy, store: none, published });
  for (const name of readdirSync(folder)) {
    expect(readFileSync(join(copy, name))).toEqual(readFileSync(join(folder, name)));
  }

  const further = await reproduceAfresh(3, published);
  expect(further.done.sort()).toEqual([
    ["data", ""],
    ["data", ""],
    ["embed", ""],
    ["examples", ""],
    ["fit", ""],
    ["run", "fgts-cdb"],
    ["run", "joust"],
    ["run", "random"],
  ]);
  expect(further.report).toEqual((await reproduceAfresh(3)).report);

  // A changed policy repeats its own runs and computes the fits that they read.
  const changed = join(newFolder(), "joust.ts");
  writeFileSync(changed, "export const version = 2;");
  const kinds: Kinds = {
    ...KINDS,
    run: {
      ...KINDS.run!,
      code: (spec) =>
        (spec as RunSpec).policy.kind === "joust"
          ? [pathToFileURL(changed)]
          : KINDS.run!.code(spec),
    },
  };
  const store = new FolderStore(newFolder());
  const workers = new LocalWorkers(store, kinds, { files: data.paths });
  await runPlan(planner.plan, { kinds, store, workers, published });
  const kindsDone = workers.done.map(({ kind, spec }) => (spec as RunSpec).policy?.kind ?? kind);
  expect(kindsDone.sort()).toEqual(
    ["data", "examples", "examples", "fit", "fit", "joust", "joust"].sort(),
  );
});

it("a published value is the rounded value, whatever it was before", () => {
  const run: RunValue = {
    t: [7, 14, 22],
    regret: [0.123456, 0.1 + 0.2, 2 / 3],
    priced: [-1.00004, -1.00006, 5],
    score: 1 / 3,
    cost: null,
    agreement: 1,
    choices: [[0.5, 3]],
  };
  const shown = shownValue("run", run);
  expect(shown).toEqual({
    ...run,
    regret: [0.1235, 0.3, 0.6667],
    priced: [-1, -1.0001, 5],
    score: 0.33333333,
  });
  for (const value of [shown, { ...run, priced: run.regret }].map((v) => shownValue("run", v))) {
    expect(shownValue("run", value)).toEqual(value);
    const text = JSON.stringify(packValue("run", value));
    expect(unpackValue("run", JSON.parse(text))).toEqual(value);
  }
  const project: ProjectValue = {
    categories: ["a"],
    category: [0],
    points: [[1.23456, -0.0012345, 100.4]],
    divergence: 0.5,
  };
  expect(shownValue("project", project)).toEqual({ ...project, points: [[1.23, -0.00123, 100]] });
});
