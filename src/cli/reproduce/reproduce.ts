import { availableParallelism } from "node:os";
import { join } from "node:path";
import { encoderPlaces } from "../../core/encoder/encoder-places.ts";
import type { EncoderPlaces } from "../../core/encoder/open-encoder.ts";
import { InputError } from "../../core/input/input-error.ts";
import { PACKAGE_ROOT, readVersion } from "../../core/input/project.ts";
import type { Workers } from "../../lab/jobs/job.ts";
import type { Plan } from "../../lab/jobs/plan.ts";
import type { ProgressReport } from "../../lab/jobs/progress.ts";
import { PublishedFolder } from "../../lab/jobs/published.ts";
import { JobFailed } from "../../lab/jobs/run-plan.ts";
import type { FolderStore } from "../../lab/jobs/store.ts";
import { Threads } from "../../lab/jobs/threads.ts";
import { ascii, toText } from "../../lab/report/table.ts";
import { plural } from "../../lab/report/words.ts";
import { evidenceOf, summaryOf, verdictText } from "../../lab/reproduce/claims-report.ts";
import { type DataSets, findDataSets } from "../../lab/reproduce/data-sets.ts";
import { findEncoders, PAPER_ENCODERS } from "../../lab/reproduce/encoders.ts";
import type { Reproduced } from "../../lab/reproduce/experiment.ts";
import { FULL, QUICK, type Runs } from "../../lab/reproduce/planner.ts";
import { publish } from "../../lab/reproduce/publish.ts";
import {
  curvesNamed,
  plan,
  planOf,
  type RunOptions,
  remainingOf,
  reproduce,
  reproduceCurves,
} from "../../lab/reproduce/reproduce.ts";
import { interruptible } from "../shared/interrupt.ts";
import { drawBar, type StatusLine, statusLine, timeLeft } from "../shared/status-line.ts";
import { dryRunText } from "./dry-run.ts";
import { EXPERIMENTS, type Experiment, type ReproduceFlags } from "./flags.ts";
import { cacheOf, KINDS, openCache } from "./work.ts";

const DEFAULT_OUT = join("out", "reproduce");

/** Runs experiments (all if none is named), tests the claims and writes the report. Returns the exit code. */
export async function runReproduce(
  experiments: readonly (Experiment | "all")[],
  flags: ReproduceFlags,
): Promise<number> {
  const { out = DEFAULT_OUT, threads = availableParallelism(), seed = 1, quick } = flags;
  const { refuseOtherFolder } = await import("../../lab/reproduce/write-report.ts");
  await refuseOtherFolder(out);
  const { default: suite } = await import("../../lab/experiments/index.ts");
  const places = encoderPlaces(flags.models);
  const named = flags.encoders?.flatMap((name) => (name === "all" ? PAPER_ENCODERS : [name]));
  const wanted = named ?? (quick ? [QUICK_ENCODER] : undefined);
  const encoders = await findEncoders(wanted, places);
  const data = await findDataSets(flags.data);
  const isAll = experiments.length === 0 || experiments.includes("all");
  const names = EXPERIMENTS.filter((name) => isAll || experiments.includes(name));
  const usual = quick ? QUICK : FULL;
  const size = { ...usual, ...flags.runs };
  const planning = { data, encoders, size, seed };
  if (flags.publish !== undefined) {
    const plans = names.map(async (name) => {
      const { planner } = await plan(suite, [name], planning);
      return { name, plan: planner.plan };
    });
    return publishPlans(await Promise.all(plans), flags.publish, flags);
  }
  const planned = await plan(suite, names, planning);
  const curves =
    flags.curve === undefined ? undefined : curvesNamed(planned, flags.curve, encoders.absent);
  if (flags.dryRun) {
    const whole = curves ? planOf(planned, curves) : planned.planner.plan;
    const known = { store: cacheOf(flags.cache), published: await openPublished(flags) };
    const remaining = await remainingOf(whole, known);
    const { jobs } = whole;
    process.stdout.write(await dryRunText({ jobs, remaining, threads, encoders, data }));
    return 0;
  }
  const store = await openCache(flags.cache);
  const workers = await workersOf(flags, store, data, threads, places);
  const interrupt = interruptible();
  const status = statusLine(process.stderr) ?? everyFiveMinutes();
  const published = await openPublished(flags);
  const options: RunOptions = {
    store,
    workers,
    published,
    signal: interrupt.signal,
    onProgress: (report) => status.show(progressLine(report)),
  };
  const record = {
    command: commandOf(isAll ? "all" : names.join(" "), flags),
    encoders,
    version: readVersion(),
  };
  let printed: string | undefined;
  try {
    if (curves) {
      const table = await reproduceCurves(planned, curves, options);
      printed = table && (flags.json ? `${JSON.stringify(table)}\n` : toText(table));
    } else {
      const done = await reproduce(planned, { ...options, ...record, out });
      printed = done && (flags.json ? `${JSON.stringify(done.record)}\n` : summary(done, out));
    }
  } catch (error) {
    // An error that the user can fix is reported as the worker reported it.
    throw error instanceof JobFailed && error.cause instanceof InputError ? error.cause : error;
  } finally {
    status.clear();
    interrupt.release();
    await workers.close();
  }
  if (printed !== undefined) {
    process.stdout.write(printed);
    return 0;
  }
  process.stderr.write(
    "joust: stopped; finished jobs are cached\nhint: run the same command again to continue\n",
  );
  return interrupt.code;
}

const QUICK_ENCODER = "static";

/** Folder of the published runs of the project. */
const PUBLISHED = join(PACKAGE_ROOT, "experiments", "runs");

async function openPublished({ published }: ReproduceFlags): Promise<PublishedFolder | undefined> {
  if (published === undefined) return undefined;
  return PublishedFolder.open(published === true ? PUBLISHED : published);
}

/** Writes the results of the finished jobs of some experiments. Returns the exit code. */
async function publishPlans(
  plans: readonly { readonly name: string; readonly plan: Plan }[],
  folder: string,
  flags: ReproduceFlags,
): Promise<number> {
  const store = await openCache(flags.cache);
  const published = await openPublished(flags);
  for (const { name, plan } of plans) {
    const { finished, total } = await publish(plan, { store, published, folder, name });
    process.stdout.write(`${name}: ${finished} of ${plural(total, "job")} are published\n`);
  }
  return 0;
}

/** Threads of this process, or `joust work` processes on any machine. */
async function workersOf(
  { workers: url }: ReproduceFlags,
  store: FolderStore,
  { paths: files }: DataSets,
  threads: number,
  places: EncoderPlaces,
): Promise<Workers> {
  if (url === undefined) {
    return new Threads({ threads, kinds: KINDS, store: store.folder, files, places });
  }
  const { RemoteWorkers } = await import("../../lab/jobs/remote-workers.ts");
  return RemoteWorkers.open(url, store, files);
}

/** The command as the report shows it, without the folders of this machine. */
function commandOf(
  names: string,
  { data, encoders, runs, seed, quick, models }: ReproduceFlags,
): string {
  const parts = [
    `joust reproduce ${names}`,
    quick && "--quick",
    data !== undefined && "--data DIR",
    models !== undefined && "--models DIR",
    encoders && `--encoders ${encoders.join(",")}`,
    runs && `--runs ${runsFlag(runs)}`,
    seed !== undefined && `--seed ${seed}`,
  ];
  return parts.filter(Boolean).join(" ");
}

/** The value of `--runs`. */
function runsFlag({ runs, runsOf = {} }: Runs): string {
  return [runs, ...Object.entries(runsOf).map(([name, own]) => `${name}=${own}`)].join(",");
}

function progressLine({ done, total, millisecondsLeft, running }: ProgressReport): string {
  const now = running[0] === undefined ? "" : `: ${running[0]}`;
  return `${drawBar(done, total)} ${done}/${total} jobs${timeLeft(millisecondsLeft)}${now}`;
}

/** Prints a line every five minutes, for output that is not a terminal. */
function everyFiveMinutes(): StatusLine {
  let last = performance.now();
  return {
    show(text) {
      if (performance.now() - last < 5 * 60_000) return;
      last = performance.now();
      process.stderr.write(`${text}\n`);
    },
    clear() {},
  };
}

function summary({ judged, planner }: Reproduced, out: string): string {
  const lines = judged
    .toSorted((a, b) => a.claim.id - b.claim.id)
    .map(({ claim, ...finding }) => {
      const found = `${verdictText(finding)}: ${evidenceOf(finding)}`;
      return `${String(claim.id).padStart(3)}  ${claim.statement}\n     ${found}`;
    });
  const report = `Report: ${join(out, "report.html")}`;
  return `${ascii(lines.join("\n"))}\n\n${summaryOf(judged, planner.size)}\n${report}\n`;
}
