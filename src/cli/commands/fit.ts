/** The options of `fit` and its help. */
import { Command } from "commander";
import { WEIGHTING_DEFAULTS, WEIGHTINGS } from "../../core/bandit/weighting.ts";
import { TRAINING_DEFAULTS } from "../../core/calibrate/fine-tune.ts";
import { DEFAULT_ENCODER, ENCODER_NAMES } from "../../core/encoder/open-encoder.ts";
import { runFit } from "../fit/fit.ts";
import { FIT_DEFAULTS, type FitFlags } from "../fit/settings.ts";
import { folder, names, number, word } from "../shared/flags.ts";
import { JOUST } from "../shared/invocation.ts";

const { static: table, transformer: net } = TRAINING_DEFAULTS;

export function fitCommand(): Command {
  const command = new Command("fit")
    .description(
      "Takes a few queries of each category (the offline queries), pulls those of a category together and those of different ones apart by contrastive fine-tuning, and makes of them and of the models' scores the embeddings that routing starts from. All of it goes into a bundle, which simulate --encoder takes.",
    )
    .argument(
      "<data>",
      "jsonl or jsonl.gz: queries with categories (and --scores), outcomes, comparisons or exported votes, as simulate takes them; with --from-log the data folder of joust serve, or a postgres:// address",
    );
  command
    .optionsGroup("Data:")
    .option(
      "--scores <csv>",
      "table of model,category,perf,cost; without it means over the offline queries are the scores",
    )
    .option("--from-log", "the votes of a live log, where it keeps the text of prompts")
    .option("--router <name>", "of the log (default auto, or the only one)")
    .option("--exclude <a,b>", "leave these models out", names("--exclude"))
    .option(
      "--offline <n>",
      `queries a category to fit on, drawn at random; all where there are fewer (default ${FIT_DEFAULTS.offline})`,
      number("--offline", { from: 1, to: 1e6, whole: true, example: 5 }),
    );
  command
    .optionsGroup("Encoder:")
    .option(
      "--encoder <name>",
      `what to start from: ${ENCODER_NAMES.join(", ")}, or the folder of a model (default ${DEFAULT_ENCODER})`,
    )
    .option("--models <dir>", "a folder of model folders to look in first", folder("--models"))
    .option(
      "--epochs <n>",
      `times that training sees every pair; 0: the encoder as it is (default: ${table.epochs} static, ${net.epochs} transformers)`,
      number("--epochs", { from: 0, to: 1000, whole: true, example: 4 }),
    )
    .option(
      "--learning-rate <r>",
      `the largest step of training (default: ${table.learningRate} static, ${net.learningRate} transformers)`,
      number("--learning-rate", { from: 0, to: 1, example: 0.00002 }),
    );
  command
    .optionsGroup("Model embeddings:")
    .option(
      "--weighting <w>",
      `how scores weigh the categories in a model's embedding: ${WEIGHTINGS.join(", ")} (default excel_perf_cost; labels for comparisons)`,
      word("--weighting", WEIGHTINGS),
    )
    .option(
      "--tau <n>",
      `models that excel in a category, for the excel weightings (default ${WEIGHTING_DEFAULTS.tau})`,
      number("--tau", { from: 1, to: 1e6, whole: true, example: 3 }),
    )
    .option(
      "--lambda <l>",
      `in perf - lambda * cost (default ${WEIGHTING_DEFAULTS.lambda})`,
      number("--lambda", { from: 0, example: 0.05 }),
    )
    .option(
      "--temperature <x>",
      `of the weighting's softmax; smaller sets models further apart (default ${WEIGHTING_DEFAULTS.temperature})`,
      number("--temperature", { from: 1e-6, example: 1 }),
    );
  command
    .optionsGroup("Output:")
    .requiredOption("--out <bundle>", "the folder to write", folder("--out"))
    .option("--resume", "go on with a fit that was stopped")
    .option("--overwrite", "replace the bundle in --out; begin anew over a fit that was stopped")
    .option(
      "--seed <n>",
      `same seed, same bundle (default ${FIT_DEFAULTS.seed})`,
      number("--seed", { from: -Infinity, whole: true, example: 1 }),
    )
    .option("--json", "print what was fitted as JSON and nothing else")
    .helpOption("-h, --help", "this text");
  return command.addHelpText("after", AFTER).action(async (data: string, flags: FitFlags) => {
    process.exitCode = await runFit(data, flags);
  });
}

const AFTER = `
Examples:
  The bundled encoder, in seconds:
    ${JOUST} fit data/queries.jsonl --scores data/scores/routerbench.csv --exclude gpt-4 --out out/bundle
    ${JOUST} simulate data/queries.jsonl --scores data/scores/routerbench.csv --exclude gpt-4 --encoder out/bundle
  A transformer, for as long as it takes; after Ctrl-C the same command with --resume goes on:
    ${JOUST} fit outcomes.jsonl.gz --encoder MiniLM --epochs 4 --offline 15 --out out/minilm
  What people have voted on so far, for the router that has served them:
    ${JOUST} fit joust-data --from-log --out out/voted
  No fine-tuning, to see what it is worth:
    ${JOUST} fit outcomes.jsonl.gz --encoder MiniLM --epochs 0 --out out/control
`;
