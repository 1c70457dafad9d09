import { Console } from "node:console";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import { isBundle } from "../../core/calibrate/bundle.ts";
import { encoderPlaces } from "../../core/encoder/encoder-places.ts";
import { readReference } from "../../core/encoder/reference.ts";
import { InputError } from "../../core/input/input-error.ts";
import { readVersion } from "../../core/input/project.ts";
import { parsePolicies } from "../../core/policy-spec/policy-spec.ts";
import { ascii, toText } from "../../lab/report/table.ts";
import { plural } from "../../lab/report/words.ts";
import { refuseForeign } from "../../lab/simulate/files.ts";
import type { Result } from "../../lab/simulate/result.ts";
import { resultTable } from "../../lab/simulate/result-table.ts";
import type { RunsProgress } from "../../lab/simulate/runs.ts";
import { type Simulated, type Simulation, simulate } from "../../lab/simulate/simulate.ts";
import { openSource, type Source, type SourceOptions } from "../../lab/simulate/source.ts";
import { summaryOf } from "../../lab/simulate/summary.ts";
import { interruptible } from "../shared/interrupt.ts";
import { withProgress } from "../shared/progress.ts";
import { encodeLine } from "../shared/status-line.ts";
import { headingOf, offlineNotes, progressLine } from "./heading.ts";
import { DEFAULT_POLICIES, type SettingsFlags, settingsOf } from "./settings.ts";

/** Width of the table if the output is not a terminal. --json and table.csv contain all columns. */
const PIPE_WIDTH = 100;

/** Styles that have an effect only on a terminal. */
const COLORS = {
  bold: (text: string) => styleText("bold", text, { stream: process.stdout }),
  dim: (text: string) => styleText("dim", text, { stream: process.stdout }),
};

export interface SimulateFlags extends SettingsFlags, Omit<SourceOptions, "data"> {
  readonly policies?: string | undefined;
  readonly threads?: number | undefined;
  readonly out?: string | undefined;
  readonly resume?: boolean | undefined;
  readonly overwrite?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Reads the data, runs the policies and prints the result. Returns the exit code. */
export async function runSimulate(data: string, flags: SimulateFlags): Promise<number> {
  const { out, resume, overwrite, json, threads = availableParallelism() } = flags;
  if (resume && out === undefined) {
    throw new InputError({ file: "--resume" }, "needs the folder to continue in", "add --out DIR");
  }
  if (resume && overwrite) {
    throw new InputError(
      { file: "--overwrite" },
      "starts again, but --resume continues",
      "give only one of them",
    );
  }
  if (out !== undefined && !overwrite) await refuseForeign(out);
  // A policy of the user may print: standard output is only for the result.
  globalThis.console = new Console(process.stderr);
  const isFitted = flags.encoder !== undefined && isBundle(readReference(flags.encoder).base);
  const policies = await parsePolicies(
    flags.policies ?? DEFAULT_POLICIES,
    process.cwd(),
    isFitted ? { weighting: "fitted" } : {},
  );
  const source = await openData(data, flags);
  const settings = settingsOf(flags, source.dataset);
  for (const note of offlineNotes(flags.offline, source.dataset, settings)) {
    process.stderr.write(`joust: ${note}\n`);
  }
  const simulation = {
    source,
    policies,
    settings,
    version: readVersion(),
  };
  const names = policies.map(({ name }) => name);
  const interrupt = interruptible();
  const { signal } = interrupt;
  const simulated = await withProgress((show) => {
    const onProgress = (progress: RunsProgress) => show(progressLine(progress, names));
    return simulate(simulation, { threads, out, resume, overwrite, onProgress, signal });
  }).finally(interrupt.release);
  const { result } = simulated;
  if (result && out !== undefined) {
    const { writeReport } = await import("../../lab/simulate/write.ts");
    await writeReport(out, result);
  }
  if (json) process.stdout.write(result ? `${JSON.stringify(result)}\n` : "");
  else if (result) process.stdout.write(screen(simulation, result, out));
  if (!simulated.interrupted) return 0;
  process.stderr.write(stoppedText(simulation, simulated, out));
  return interrupt.code;
}

/** Reads and encodes the data. Embeddings of slow encoders are cached. */
async function openData(data: string, flags: SimulateFlags): Promise<Source> {
  const places = encoderPlaces();
  return withProgress((show) =>
    openSource({
      ...flags,
      data,
      places,
      cacheDir: places.embeddingCache,
      onProgress: (progress) => show(encodeLine(progress)),
    }),
  );
}

function screen(simulation: Simulation, result: Result, out: string | undefined): string {
  const { columns, isTTY = false } = process.stdout;
  const table = toText(resultTable(result, isTTY), COLORS, columns || PIPE_WIDTH);
  const report =
    out !== undefined
      ? `Report: ${join(out, "report.html")}\n`
      : isTTY
        ? COLORS.dim("Add --out DIR to write figures, a report and tables.\n")
        : "";
  return `${headingOf(simulation)}\n\n${table}\n${ascii(summaryOf(result))}\n${report}`;
}

function stoppedText(
  { policies, settings }: Simulation,
  { result, finished }: Simulated,
  out: string | undefined,
): string {
  const complete = result?.policies[policies[0]!.name]?.regret.runs.length ?? 0;
  const total = policies.length * settings.runs;
  const done = `${finished} of ${plural(total, "run")} are finished; every policy has finished ${complete} of ${settings.runs}${complete > 0 ? ", which are shown" : ""}`;
  const next =
    out === undefined
      ? "nothing was saved\nhint: add --out DIR to be able to continue"
      : `saved in ${join(out, "runs.jsonl")}\nhint: run the same command with --resume to continue`;
  return `joust: stopped: ${done}; ${next}\n`;
}
