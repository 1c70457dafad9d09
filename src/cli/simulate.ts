import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import colors from "picocolors";
import { POLICIES } from "../bandit/policies/index.ts";
import { InputError } from "../input/input-error.ts";
import { resultTable } from "../report/result-table.ts";
import { summaryOf } from "../report/summary.ts";
import { toText } from "../report/table.ts";
import { parsePolicies } from "../simulate/policy-spec.ts";
import type { Result } from "../simulate/result.ts";
import { SETTINGS } from "../simulate/settings.ts";
import { type Simulated, type Simulation, simulate } from "../simulate/simulate.ts";
import { openSource, type SourceOptions } from "../simulate/source.ts";
import { folder, names, number, word } from "./flags.ts";
import { interruptible } from "./interrupt.ts";
import { progressBar } from "./progress.ts";
import {
  MOST_ROUNDS,
  readTold,
  readTruth,
  readVoters,
  type SettingsFlags,
  settingsOf,
} from "./settings-flags.ts";
import { readVersion } from "./version.ts";

/** What every comparison needs: ours, the paper's, and the three that show what votes are worth. */
const DEFAULT_POLICIES = "joust,fgts-cdb,zero-feedback,best-fixed,random";

export interface SimulateFlags extends SettingsFlags, Omit<SourceOptions, "data"> {
  readonly policies?: string | undefined;
  readonly threads?: number | undefined;
  readonly out?: string | undefined;
  readonly resume?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Loads, sweeps, prints. Returns the exit code. */
export async function runSimulate(data: string, flags: SimulateFlags): Promise<number> {
  const { out, resume, json, threads = availableParallelism() } = flags;
  if (resume && out === undefined) {
    throw new InputError({ file: "--resume" }, "needs the folder to go on in", "add --out DIR");
  }
  const policies = await parsePolicies(flags.policies ?? DEFAULT_POLICIES, process.cwd());
  const source = await openSource({ ...flags, data });
  const settings = settingsOf(flags, source.dataset);
  const simulation = { source, policies, settings, version: readVersion() };
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
    const { writeReport } = await import("../report/write.ts");
    await writeReport(out, result);
  }
  if (json) process.stdout.write(result ? `${JSON.stringify(result)}\n` : "");
  else if (result) process.stdout.write(screen(simulation, result, out));
  if (!simulated.interrupted) return 0;
  process.stderr.write(stoppedText(simulation, simulated, out));
  return interrupt.code;
}

function screen(simulation: Simulation, result: Result, out: string | undefined): string {
  const table = toText(resultTable(result), colors, process.stdout.columns || Infinity);
  const report =
    out !== undefined
      ? `Report: ${join(out, "report.html")}\n`
      : process.stdout.isTTY
        ? colors.dim("Add --out DIR for figures, report and tables to keep.\n")
        : "";
  return `${describe(simulation)}\n\n${table}\n${summaryOf(result)}\n${report}`;
}

/** On what was run, in a line. */
function describe({ source, settings }: Simulation): string {
  const { queries, categories, models } = source.dataset;
  const { told, truthSd, voteScale, rounds, seed } = settings;
  const count = categories.length;
  const kinds = count > 0 ? ` in ${count} ${count === 1 ? "category" : "categories"}` : "";
  return [
    `${source.record.data}: ${queries.length} queries${kinds}, ${models.length} models; ${rounds} rounds`,
    `told ${told.kind}${told.kind === "noisy" ? `:${told.sd}` : ""}`,
    ...(truthSd > 0 ? [`truth noisy:${truthSd}`] : []),
    `vote scale ${voteScale}`,
    `seed ${seed}`,
  ].join(", ");
}

function stoppedText(
  { policies, settings }: Simulation,
  { result, finished }: Simulated,
  out: string | undefined,
): string {
  const complete = result?.policies[policies[0]!.name]?.regret.runs.length ?? 0;
  const total = policies.length * settings.runs;
  const kept = `${finished} of ${total} tasks (one policy, one run) are finished, and by all policies ${complete} of ${settings.runs} runs${complete > 0 ? ", which is what you see" : ""}`;
  const next =
    out === undefined
      ? "nothing is kept; with --out DIR a stopped simulation can go on"
      : `they are kept in ${join(out, "runs.jsonl")}: the same command with --resume goes on`;
  return `joust: stopped: ${kept}; ${next}\n`;
}

export function simulateCommand(): Command {
  const command = new Command("simulate")
    .summary("compare routing policies on a data set with simulated voters")
    .description(
      "Streams the queries of a data set past several routing policies, each of which picks two models a round and learns from a simulated vote, and compares their cumulative regret.",
    )
    .argument(
      "<data>",
      "jsonl or jsonl.gz: outcomes, comparisons, or queries (with --scores); RouterBench, llmrouter-9models, MixInstruct, Chatbot Arena and MMLU are known by their shape",
    );
  command
    .optionsGroup("Data:")
    .option("--scores <csv>", "table of model,category,perf,cost")
    .option("--models <a,b>", "keep these models alone", names("--models"))
    .option("--exclude <a,b>", "leave these models out", names("--exclude"))
    .option(
      "--encoder <name>",
      "text to vector: hash, a bag of words that needs no model (default)",
    )
    .option("--embeddings <file>", 'vectors made elsewhere: .npy, or jsonl {"id","embedding"}')
    .option(
      "--offline <n>",
      `queries a category set aside for centroids and told scores, never streamed (default ${SETTINGS.offline})`,
      number("--offline", { from: 1, to: 1e6, whole: true, example: 5 }),
    );
  command
    .optionsGroup("Policies:")
    .option("--policies <list>", `a,b:key=value:key=value,./mine.ts (default ${DEFAULT_POLICIES})`);
  command
    .optionsGroup("World:")
    .option(
      "--told <what>",
      "scores the router is told: scores (the csv's; default with --scores), offline (means over the offline queries; default without), none, noisy:SD, permuted",
      readTold,
    )
    .option("--truth <noisy:SD>", "true scores are the csv's plus normal noise", readTruth)
    .option(
      "--lambda <l>",
      "utility = score - lambda * cost, for everyone (default 0)",
      number("--lambda", { from: 0, example: 0.05 }),
    )
    .option(
      "--stream <order>",
      "shuffled (each query once before any twice; default) or uniform over categories",
      word("--stream", ["shuffled", "uniform"] as const),
    );
  command
    .optionsGroup("Voters:")
    .option(
      "--vote-scale <s>",
      `P(a beats b) = sigmoid(s (utility_a - utility_b)); no learner is told s (default ${SETTINGS.voteScale})`,
      number("--vote-scale", { from: 0, example: 3 }),
    )
    .option(
      "--ties <w>",
      "width of Davidson's ties; 0: none (default)",
      number("--ties", { from: 0, example: 0.5 }),
    )
    .option(
      "--delay <n>",
      "rounds until a vote arrives (default 0)",
      number("--delay", { from: 0, to: 1e7, whole: true, example: 50 }),
    )
    .option(
      "--voters <quirks>",
      "count=20,noisy=0.1,malicious=0.1,position=0.5,bothBad=0.3, any of them: how many there are, which share votes at random or for the worse, favour of the first answer in logits, utility below which both are bad (default: one honest voter)",
      readVoters,
    );
  command
    .optionsGroup("Length:")
    .option(
      "--rounds <t>",
      `length of a run; above the data's size it repeats, reshuffled (default: each query once, at most ${MOST_ROUNDS})`,
      number("--rounds", { from: 1, to: 1e7, whole: true, example: 1000 }),
    )
    .option(
      "--runs <r>",
      `runs of each policy; run i is the same world for all (default ${SETTINGS.runs}; 20 to tell two apart)`,
      number("--runs", { from: 1, to: 1e5, whole: true, example: 20 }),
    )
    .option(
      "--seed <n>",
      `same seed, same result (default ${SETTINGS.seed})`,
      number("--seed", { from: -Infinity, whole: true, example: 1 }),
    )
    .option(
      "--threads <n>",
      "worker threads; changes no result (default: all cores)",
      number("--threads", { from: 1, to: 1024, whole: true, example: 2 }),
    );
  command
    .optionsGroup("Output:")
    .option(
      "--out <dir>",
      "write result.json, report.html, figures, csv and LaTeX tables there",
      folder("--out"),
    )
    .option(
      "--resume",
      "keep the finished runs in --out and do the rest; more --runs or --policies are fine",
    )
    .option("--json", "print the result as JSON and nothing else")
    .helpOption("-h, --help", "this text");
  return command.addHelpText("after", AFTER).action(async (data: string, flags: SimulateFlags) => {
    process.exitCode = await runSimulate(data, flags);
  });
}

const AFTER = `
Examples:
  The project's own questions with the paper's Perf/Cost table, report in out/own:
    joust simulate data/queries.jsonl --scores data/scores/routerbench.csv --exclude gpt-4 --rounds 1000 --out out/own
  Outcomes of your own, two settings of one policy and a policy of your own, 20 runs:
    joust simulate outcomes.jsonl.gz --policies joust,joust:alpha=2,./mine.ts --runs 20 --out out/mine
  Told scores that are wrong, votes that come late, a tenth of the voters malicious:
    joust simulate outcomes.jsonl --told noisy:0.1 --delay 50 --voters count=20,malicious=0.1

Policies (joust policies shows their options):
${POLICIES.map(({ name, summary }) => `  ${name.padEnd(22)} ${summary}`).join("\n")}
`;
