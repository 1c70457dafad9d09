/** The options of `reproduce` and its help. */
import { Argument, Command } from "commander";
import { FULL, QUICK } from "../lab/reproduce/bench.ts";
import { EXPERIMENTS, type ReproduceFlags, runReproduce } from "./reproduce.ts";
import { folder, names, number } from "./shared/flags.ts";
import { JOUST } from "./shared/invocation.ts";

export function reproduceCommand(): Command {
  const command = new Command("reproduce")
    .description(
      "Runs the experiments of LLM Routing with Dueling Feedback, each curve beside what the simplest baselines do, and says of every claim whether it holds here. Work is cut into jobs whose results are cached: stopped, the same command goes on, and a second time takes seconds.",
    )
    .addArgument(
      new Argument("[experiment]", "which of them").choices([...EXPERIMENTS, "all"]).default("all"),
    );
  command
    .optionsGroup("Data:")
    .option(
      "--data <dir>",
      "folder with mmlu/, routerbench-queries/, mixinstruct/ or qlora-gpt4-pairwise/; without it the project's own questions stand in",
      folder("--data"),
    )
    .option(
      "--encoders <a,b>",
      "which encoders (default: those of MiniLM, mpnet, e5b, OpenAItext and static that are here)",
      names("--encoders"),
    )
    .option("--models <dir>", "a folder of model folders to look in first", folder("--models"));
  command
    .optionsGroup("Length:")
    .option(
      "--runs <r>",
      `runs of each curve, each with its own offline queries and fine-tuning (default ${FULL.runs}; 20 to tell close curves apart)`,
      number("--runs", { from: 1, to: 1000, whole: true, example: 20 }),
    )
    .option(
      "--quick",
      `two minutes: the static encoder, ${QUICK.runs} runs, vote scale ${QUICK.scales.join(", ")}, ${QUICK.long} rounds`,
    )
    .option(
      "--seed <n>",
      "same seed, same numbers (default 1)",
      number("--seed", { from: -Infinity, whole: true, example: 1 }),
    )
    .option(
      "--threads <n>",
      "worker threads; changes no result (default: all cores)",
      number("--threads", { from: 1, to: 1024, whole: true, example: 2 }),
    )
    .option(
      "--workers <url>",
      "spread the jobs over any number of `joust work` processes by this PostgreSQL: postgres://user:password@host/database; the same numbers",
    )
    .option("--dry-run", "say how many jobs there are and about how long they take, and end");
  command
    .optionsGroup("Output:")
    .option(
      "--out <dir>",
      "report.html, claims, figures, tables and reproduce.json go there (default out/reproduce)",
      folder("--out"),
    )
    .option(
      "--cache <dir>",
      "where results of jobs are kept; can be deleted at any time (default: reproduce in the user's cache)",
      folder("--cache"),
    )
    .option(
      "--curve <name>",
      "run this curve alone, in all its worlds, and print its numbers: MiniLM_E4_Excel_perf_cost_exp, or a baseline by its vectors, 'joust on MiniLM_E4'; no report is written",
    )
    .option("--json", "print reproduce.json and nothing else")
    .helpOption("-h, --help", "this text");
  return command
    .addHelpText("after", AFTER)
    .action(async (experiment: Parameters<typeof runReproduce>[0], flags: ReproduceFlags) => {
      process.exitCode = await runReproduce(experiment, flags);
    });
}

const AFTER = `
Examples:
  A first look, from the repository alone:
    ${JOUST} reproduce --quick
  Everything, with the public data sets and MiniLM:
    ${JOUST} models get MiniLM
    ${JOUST} reproduce all --data data-sets
  One experiment, more runs:
    ${JOUST} reproduce unseen --data data-sets --runs 20
  On several machines: the second line on each of them:
    ${JOUST} reproduce all --data data-sets --runs 20 --workers postgres://joust:secret@db/joust
    ${JOUST} work --workers postgres://joust:secret@db/joust
`;
