import { Console } from "node:console";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import { isBundle } from "../core/calibrate/bundle.ts";
import type { EncodeProgress } from "../core/encoder/encode-all.ts";
import { encoderPlaces } from "../core/encoder/encoder-places.ts";
import { readReference } from "../core/encoder/reference.ts";
import { InputError } from "../core/input/input-error.ts";
import { readVersion } from "../core/input/project.ts";
import { parsePolicies } from "../lab/policies/policy-spec.ts";
import { ascii, toText } from "../lab/report/table.ts";
import { plural } from "../lab/report/words.ts";
import { refuseForeign } from "../lab/simulate/files.ts";
import type { Result } from "../lab/simulate/result.ts";
import { resultTable } from "../lab/simulate/result-table.ts";
import { type Simulated, type Simulation, simulate } from "../lab/simulate/simulate.ts";
import { openSource, type Source, type SourceOptions } from "../lab/simulate/source.ts";
import { summaryOf } from "../lab/simulate/summary.ts";
import { headingOf, offlineNotes } from "./heading.ts";
import { progressBar } from "./progress.ts";
import { type SettingsFlags, settingsOf } from "./settings-flags.ts";
import { interruptible } from "./shared/interrupt.ts";
import { encodeLine, statusLine } from "./shared/status-line.ts";

/** What every comparison needs: ours, the paper's, and the three that show what votes are worth. */
export const DEFAULT_POLICIES = "joust,fgts-cdb,zero-feedback,best-fixed,random";

/** What a mail or a terminal elsewhere shows without wrapping; --json and table.csv have everything. */
const PIPE_WIDTH = 100;

/** Only on a terminal, wherever the program runs. */
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

/** Loads, sweeps, prints. Returns the exit code. */
export async function runSimulate(data: string, flags: SimulateFlags): Promise<number> {
  const { out, resume, overwrite, json, threads = availableParallelism() } = flags;
  if (resume && out === undefined) {
    throw new InputError({ file: "--resume" }, "needs the folder to go on in", "add --out DIR");
  }
  if (resume && overwrite) {
    throw new InputError(
      { file: "--overwrite" },
      "begins anew, --resume goes on",
      "give one of them",
    );
  }
  if (out !== undefined && !overwrite) await refuseForeign(out);
  // Standard output is the result's, and policies of the user's own may print.
  globalThis.console = new Console(process.stderr);
  const fitted = flags.encoder !== undefined && isBundle(readReference(flags.encoder).base);
  const policies = await parsePolicies(
    flags.policies ?? DEFAULT_POLICIES,
    process.cwd(),
    fitted ? { weighting: "fitted" } : {},
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
  const bar = progressBar(
    process.stderr,
    policies.map(({ name }) => name),
  );
  const interrupt = interruptible();
  let simulated: Simulated;
  try {
    const onProgress = bar?.show;
    simulated = await simulate(simulation, {
      threads,
      out,
      resume,
      overwrite,
      onProgress,
      signal: interrupt.signal,
    });
  } finally {
    bar?.clear();
    interrupt.release();
  }
  const { result } = simulated;
  if (result && out !== undefined) {
    // Drawing is loaded only where something is drawn.
    const { writeReport } = await import("../lab/simulate/write.ts");
    await writeReport(out, result);
  }
  if (json) process.stdout.write(result ? `${JSON.stringify(result)}\n` : "");
  else if (result) process.stdout.write(screen(simulation, result, out));
  if (!simulated.interrupted) return 0;
  process.stderr.write(stoppedText(simulation, simulated, out));
  return interrupt.code;
}

/** Reads and encodes; what a slow encoder has made is kept for the next time. */
async function openData(data: string, flags: SimulateFlags): Promise<Source> {
  const places = encoderPlaces();
  const status = statusLine(process.stderr);
  const onProgress = (progress: EncodeProgress) => status?.show(encodeLine(progress));
  try {
    return await openSource({
      ...flags,
      data,
      places,
      cacheDir: places.embeddingCache,
      onProgress,
    });
  } finally {
    status?.clear();
  }
}

function screen(simulation: Simulation, result: Result, out: string | undefined): string {
  const { columns, isTTY = false } = process.stdout;
  const table = toText(resultTable(result, isTTY), COLORS, columns || PIPE_WIDTH);
  const report =
    out !== undefined
      ? `Report: ${join(out, "report.html")}\n`
      : isTTY
        ? COLORS.dim("Add --out DIR for figures, report and tables to keep.\n")
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
  const kept = `${finished} of ${plural(total, "run")} are finished, of every policy ${complete} of ${settings.runs}${complete > 0 ? ", which is what you see" : ""}`;
  const next =
    out === undefined
      ? "nothing is kept; with --out DIR a stopped simulation can go on"
      : `they are kept in ${join(out, "runs.jsonl")}: the same command with --resume continues`;
  return `joust: stopped: ${kept}; ${next}\n`;
}
