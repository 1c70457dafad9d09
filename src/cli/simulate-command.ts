/** The options of `simulate` and its help. */
import { Command } from "commander";
import { POLICIES } from "../core/bandit/policies/index.ts";
import { DEFAULT_ENCODER } from "../core/encoder/open-encoder.ts";
import { SETTINGS } from "../lab/simulate/settings.ts";
import { CROWD, MOST_ROUNDS, readTold, readTruth, readVoters } from "./settings-flags.ts";
import { ENCODER_HELP } from "./shared/encoder-flags.ts";
import { folder, names, number, word } from "./shared/flags.ts";
import { JOUST } from "./shared/invocation.ts";
import { DEFAULT_POLICIES, runSimulate, type SimulateFlags } from "./simulate.ts";

export function simulateCommand(): Command {
  const command = new Command("simulate")
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
      `${ENCODER_HELP}, whose offline queries, categories and told scores then count (default ${DEFAULT_ENCODER})`,
    )
    .option("--embeddings <file>", 'vectors made elsewhere: .npy, or jsonl {"id","embedding"}')
    .option(
      "--offline <n>",
      `queries a category set aside for centroids and told scores, never streamed; at most half of it (default ${SETTINGS.offline})`,
      number("--offline", { from: 1, to: 1e6, whole: true, example: 5 }),
    );
  command
    .optionsGroup("Policies:")
    .option("--policies <list>", `a,b:key=value:key=value,./mine.ts (default ${DEFAULT_POLICIES})`);
  command
    .optionsGroup("World:")
    .option(
      "--told <what>",
      "scores the router is told: bundle (those it was fitted with; default with a bundle), scores (the csv's; default with --scores), offline (means over the offline queries; default otherwise), none, noisy:SD, permuted",
      readTold,
    )
    .option("--truth <noisy:SD>", "true scores are the csv's plus normal noise", readTruth)
    .option(
      "--lambda <l>",
      "utility = score - lambda * cost, for truth, votes and regret; the cost is in the data's own unit, so lambda is the score that one of it is worth (the paper: 0.05; default 0)",
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
      "rounds until a vote arrives, fewer than there are (default 0)",
      number("--delay", { from: 0, to: 1e7, whole: true, example: 50 }),
    )
    .option(
      "--voters <quirks>",
      `any of count=50,noisy=0.1,malicious=0.1,position=0.5,bothBad=0.3: how many there are (${CROWD} unless said), which share votes at random or for the worse, favour of the first answer in logits, utility below which both are bad (without --voters: one honest voter)`,
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
    .option("--overwrite", "begin anew over the runs and files in --out, which are lost")
    .option("--json", "print the result as JSON and nothing else")
    .helpOption("-h, --help", "this text");
  return command.addHelpText("after", AFTER).action(async (data: string, flags: SimulateFlags) => {
    process.exitCode = await runSimulate(data, flags);
  });
}

const AFTER = `
Examples:
  The project's own questions with the paper's Perf/Cost table, report in out/own:
    ${JOUST} simulate data/queries.jsonl --scores data/scores/routerbench.csv --exclude gpt-4 --rounds 1000 --out out/own
  Outcomes of your own, two settings of one policy and a policy of your own, 20 runs:
    ${JOUST} simulate outcomes.jsonl.gz --policies joust,joust:alpha=2,./mine.ts --runs 20 --out out/mine
  An encoder fitted to your queries first (${JOUST} fit --help), and what it gains:
    ${JOUST} simulate outcomes.jsonl --encoder out/bundle
  Told scores that are wrong, votes that come late, a tenth of the voters malicious:
    ${JOUST} simulate outcomes.jsonl --told noisy:0.1 --delay 50 --voters count=20,malicious=0.1

Policies (${JOUST} policies shows their options):
${POLICIES.map(({ name, summary }) => `  ${name.padEnd(22)} ${summary}`).join("\n")}
`;
