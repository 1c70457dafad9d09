import { Argument, type Command, Option } from "commander";
import { InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import { FULL, QUICK } from "../../lab/reproduce/planner.ts";
import { EXPERIMENTS, type Experiment, type ReproduceFlags } from "../reproduce/flags.ts";
import { newCommand } from "../shared/command.ts";
import { folder, names, readNumber, seed, threads, withModelsFlag, word } from "../shared/flags.ts";

type ExperimentName = Experiment | "all";

function experiments(text: string, previous: readonly ExperimentName[]): ExperimentName[] {
  const known: readonly ExperimentName[] = [...EXPERIMENTS, "all"];
  const found = known.find((name) => name === text);
  if (found !== undefined) return [...previous, found];
  throw new InputError(
    { file: "experiments" },
    `there is no "${text}"`,
    `${didYouMean(text, known)}choose from ${known.join(", ")}`,
  );
}

/** Parses `3` and `3,routerbench=20,unseen=5`. */
function runs(text: string): ReproduceFlags["runs"] {
  const count = (value: string) =>
    readNumber("--runs", value, { from: 1, to: 1000, whole: true, example: "--runs 20" });
  const [usual, ...others] = names("--runs")(text);
  if (others.length === 0) return { runs: count(usual!), runsOf: undefined };
  const runsOf = others.map((other): [string, number] => {
    const [name, value = ""] = other.split("=");
    return [word("--runs", EXPERIMENTS)(name!), count(value)];
  });
  return { runs: count(usual!), runsOf: Object.fromEntries(runsOf) };
}

export function reproduceCommand(): Command {
  const command = newCommand({
    name: "reproduce",
    summary: "run the experiments of the paper and test its claims",
    description:
      'Runs the experiments of "LLM Routing with Dueling Feedback" together with simple baselines, and tests every claim of the paper. The work is divided into jobs whose results are cached: after an interruption the same command continues, and a second run takes seconds.',
    examples: [
      ["Get a first impression in two minutes", "joust reproduce --quick"],
      [
        "Run everything with the public data sets and MiniLM",
        "joust models get MiniLM",
        "joust reproduce all --data data-sets",
      ],
      [
        "Run some experiments with more runs",
        "joust reproduce mmlu unseen --data data-sets --runs 50",
      ],
      [
        "Use several machines: the second command runs on each of them",
        "joust reproduce all --data data-sets --workers postgres://joust:secret@db/joust",
        "joust work --workers postgres://joust:secret@db/joust",
      ],
    ],
  }).addArgument(
    new Argument("[experiments...]", `experiments to run: ${EXPERIMENTS.join(", ")} or all`)
      .argParser(experiments)
      .default([], "all"),
  );
  command
    .optionsGroup("Data:")
    .option(
      "--data <dir>",
      "folder with mmlu/, routerbench-queries/, mixinstruct/ or qlora-gpt4-pairwise/, as joust data get makes it; queries_rbprompt.jsonl.gz in routerbench-queries/ is a stand-in, whose MMLU, GSM8K, HellaSwag and MBPP texts differ from RouterBench's (default: the project's own questions)",
      folder("--data"),
    )
    .option(
      "--encoders <a,b>",
      "encoders; all means the paper's four (MiniLM, mpnet, e5b and OpenAItext) and fails if one is not available (default: static and those of the paper's four that are available)",
      names("--encoders"),
    );
  withModelsFlag(command);
  command
    .optionsGroup("Length:")
    .option(
      "--runs <r>",
      `runs of each curve, each with its own offline queries and fine-tuning; 3,routerbench=20 gives one experiment another number (default: ${FULL.runs}, and ${FULL.runsOf.convergence} of convergence)`,
      runs,
    )
    .option(
      "--quick",
      `a small run of about two minutes: the static encoder, ${QUICK.runs} runs, vote scale ${QUICK.scales.join(", ")}, ${QUICK.long} rounds`,
    )
    .option("--seed <n>", "the same seed gives the same numbers (default: 1)", seed)
    .option(
      "--threads <n>",
      "worker threads; they do not change the results (default: one per core)",
      threads,
    )
    .addOption(
      new Option(
        "--workers <url>",
        'distribute the jobs to "joust work" processes through this PostgreSQL database, with the same results: postgres://user:password@host/database',
      ).env("JOUST_WORKERS"),
    )
    .option(
      "--published [dir]",
      "take the results of jobs from published runs (default: experiments/runs of the checkout); only missing runs, and the fits that they need, are computed",
      folder("--published"),
    )
    .option(
      "--publish <dir>",
      "write the results of the finished jobs to this folder, for --published, and exit; nothing is run",
      folder("--publish"),
    )
    .option(
      "--dry-run",
      "print the number of jobs that are left and estimates of their time, memory and, for OpenAItext, dollars, and exit",
    );
  command
    .optionsGroup("Output:")
    .option(
      "--out <dir>",
      "folder for report.html, claims, figures, tables and reproduce.json (default: out/reproduce)",
      folder("--out"),
    )
    .option(
      "--cache <dir>",
      "folder for the results of jobs; it can be deleted at any time (default: reproduce in the user's cache)",
      folder("--cache"),
    )
    .option(
      "--curve <name>",
      "run only this curve, in all its settings, and print its numbers instead of writing a report: MiniLM_E4_Excel_perf_cost_exp, or a baseline with its vectors, 'joust on MiniLM_E4'",
    )
    .option("--json", "print only reproduce.json");
  return command.action(async (named: readonly ExperimentName[], flags: ReproduceFlags) => {
    const { runReproduce } = await import("../reproduce/reproduce.ts");
    process.exitCode = await runReproduce(named, flags);
  });
}
