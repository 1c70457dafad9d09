import type { Command } from "commander";
import { SETTINGS } from "../../lab/simulate/settings.ts";
import { newCommand } from "../shared/command.ts";
import { ENCODER_HELP, folder, names, number, seed, threads, word } from "../shared/flags.ts";
import {
  CROWD,
  DEFAULT_POLICIES,
  MOST_ROUNDS,
  readTold,
  readTruth,
  readVoters,
} from "../simulate/settings.ts";
import type { SimulateFlags } from "../simulate/simulate.ts";

export function simulateCommand(): Command {
  const command = newCommand({
    name: "simulate",
    summary: "compare routing policies on a data set with simulated voters",
    description:
      "Compares routing policies on a data set. In each round a policy chooses two models for a query and learns from a simulated vote. The command prints the cumulative regret of each policy.",
    examples: [
      [
        "Compare the default policies on the project's questions with the paper's scores",
        "joust simulate data/queries.jsonl --scores data/scores/routerbench.csv --exclude gpt-4 --rounds 1000 --out out/own",
      ],
      [
        "Compare two settings of a policy and a policy of your own on your outcomes",
        "joust simulate outcomes.jsonl.gz --policies joust,joust:horizon=600,./mine.ts --runs 20 --out out/mine",
      ],
      [
        'Use an encoder that "joust fit" has fitted to your queries',
        "joust simulate outcomes.jsonl --encoder out/bundle",
      ],
      [
        "Simulate wrong scores, late votes and malicious voters",
        "joust simulate outcomes.jsonl --told noisy:0.1 --delay 50 --voters count=20,malicious=0.1",
      ],
    ],
    notes: '"joust policies" lists the policies with their options.',
  }).argument(
    "<data>",
    "jsonl or jsonl.gz: outcomes, comparisons, or queries (with --scores); the formats of RouterBench, llmrouter-9models, MixInstruct, Chatbot Arena and MMLU are recognised",
  );
  command
    .optionsGroup("Data:")
    .option("--scores <csv>", "table model,category,perf,cost")
    .option("--models <a,b>", "models to keep (default: all)", names("--models"))
    .option("--exclude <a,b>", "models to leave out", names("--exclude"))
    .option(
      "--encoder <name>",
      `${ENCODER_HELP}; a bundle also provides offline queries, categories and told scores (default: static)`,
    )
    .option("--embeddings <file>", 'embeddings made elsewhere: .npy, or jsonl {"id","embedding"}')
    .option(
      "--offline <n>",
      `number of offline queries per category, at most half of the category; they provide centroids and told scores and are never streamed (default: ${SETTINGS.offline})`,
      number("--offline", { from: 1, to: 1e6, whole: true, example: 5 }),
    );
  command
    .optionsGroup("Policies:")
    .option(
      "--policies <list>",
      `policies to compare: a,b:key=value:key=value,./mine.ts (default: ${DEFAULT_POLICIES})`,
    );
  command
    .optionsGroup("World:")
    .option(
      "--told <what>",
      "scores that the router knows in advance: bundle (those of the bundle; default with a bundle), scores (those of the csv; default with --scores), offline (means over the offline queries; default otherwise), none, noisy:SD or permuted",
      readTold,
    )
    .option(
      "--truth <noisy:SD>",
      "true scores are those of the csv plus normal noise (default: no noise)",
      readTruth,
    )
    .option(
      "--lambda <l>",
      "utility = score - lambda * cost, for truth, votes and regret; the cost has the unit of the data, so lambda is the score that one unit is worth; the paper uses 0.05 (default: 0)",
      number("--lambda", { from: 0, example: 0.05 }),
    )
    .option(
      "--stream <order>",
      "order of the queries: shuffled (each query once before any is repeated) or uniform over categories (default: shuffled)",
      word("--stream", ["shuffled", "uniform"] as const),
    );
  command
    .optionsGroup("Voters:")
    .option(
      "--vote-scale <s>",
      `P(a beats b) = sigmoid(s (utility_a - utility_b)); no policy knows s (default: ${SETTINGS.voteScale})`,
      number("--vote-scale", { from: 0, example: 3 }),
    )
    .option(
      "--ties <w>",
      "width of Davidson's model of ties; 0 has no ties (default: 0)",
      number("--ties", { from: 0, example: 0.5 }),
    )
    .option(
      "--delay <n>",
      "rounds until a vote arrives; fewer than --rounds (default: 0)",
      number("--delay", { from: 0, to: 1e7, whole: true, example: 50 }),
    )
    .option(
      "--voters <quirks>",
      `any of these, separated by commas: count=N, number of voters (${CROWD} if not given); noisy=S, share of voters who vote at random; malicious=S, share who vote for the worse answer; position=L, logits added to the answer shown first; bothBad=U, utility below which both answers are bad (default: one honest voter)`,
      readVoters,
    );
  command
    .optionsGroup("Length:")
    .option(
      "--rounds <t>",
      `rounds per run; more rounds than queries repeat the data in a new order (default: each query once, at most ${MOST_ROUNDS})`,
      number("--rounds", { from: 1, to: 1e7, whole: true, example: 1000 }),
    )
    .option(
      "--runs <r>",
      `runs of each policy; run i has the same world for all policies; use 20 to separate close policies (default: ${SETTINGS.runs})`,
      number("--runs", { from: 1, to: 1e5, whole: true, example: 20 }),
    )
    .option("--seed <n>", `the same seed gives the same result (default: ${SETTINGS.seed})`, seed)
    .option(
      "--threads <n>",
      "worker threads; they do not change the result (default: one per core)",
      threads,
    );
  command
    .optionsGroup("Output:")
    .option(
      "--out <dir>",
      "folder for result.json, report.html, figures, csv and LaTeX tables (default: none is written)",
      folder("--out"),
    )
    .option(
      "--resume",
      "keep the finished runs in --out and run the rest; you may add --runs and --policies",
    )
    .option("--overwrite", "delete the runs and files in --out and start again")
    .option("--json", "print only the result as JSON");
  return command.action(async (data: string, flags: SimulateFlags) => {
    const { runSimulate } = await import("../simulate/simulate.ts");
    process.exitCode = await runSimulate(data, flags);
  });
}
