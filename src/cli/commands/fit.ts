import type { Command } from "commander";
import { WEIGHTING_DEFAULTS, WEIGHTINGS } from "../../core/bandit/weighting.ts";
import { TRAINING_DEFAULTS } from "../../core/calibrate/fine-tune.ts";
import { FIT_DEFAULTS, type FitFlags } from "../fit/flags.ts";
import { newCommand } from "../shared/command.ts";
import { folder, names, number, seed, withModelsFlag, word } from "../shared/flags.ts";

const { static: table, transformer } = TRAINING_DEFAULTS;

export function fitCommand(): Command {
  const command = newCommand({
    name: "fit",
    summary: "fine-tune an encoder to your queries and embed your models",
    description:
      "Calibrates routing to your data. It takes a few queries of each category (the offline queries), fine-tunes an encoder so that queries of one category move together and those of different categories move apart, and computes model embeddings from the scores of the models. It writes everything into a bundle, which joust.yaml and simulate --encoder accept.",
    examples: [
      [
        "Fit the bundled encoder in seconds, and simulate with the bundle",
        "joust fit data/queries.jsonl --scores data/scores/routerbench.csv --exclude gpt-4 --out out/bundle",
        "joust simulate data/queries.jsonl --scores data/scores/routerbench.csv --exclude gpt-4 --encoder out/bundle",
      ],
      [
        "Fit a transformer; after Ctrl-C the same command with --resume continues",
        "joust fit outcomes.jsonl.gz --encoder MiniLM --epochs 4 --offline 15 --out out/minilm",
      ],
      [
        "Fit to the votes of a gateway, for its router",
        "joust fit joust-data --from-log --out out/voted",
      ],
      [
        "Skip fine-tuning, to measure its effect",
        "joust fit outcomes.jsonl.gz --encoder MiniLM --epochs 0 --out out/control",
      ],
    ],
  }).argument(
    "<data>",
    "jsonl or jsonl.gz: queries with categories (and --scores), outcomes, comparisons or exported votes, as simulate accepts them; with --from-log, the data folder of joust serve or a postgres:// address",
  );
  command
    .optionsGroup("Data:")
    .option(
      "--scores <csv>",
      "table model,category,perf,cost (default: mean scores of the offline queries)",
    )
    .option("--from-log", "use the votes of a gateway's log, which must contain prompts")
    .option(
      "--router <name>",
      "router of the log, with --from-log (default: the only one, otherwise auto)",
    )
    .option("--exclude <a,b>", "models to leave out", names("--exclude"))
    .option(
      "--offline <n>",
      `number of queries per category to fit on, drawn at random; all if there are fewer (default: ${FIT_DEFAULTS.offline})`,
      number("--offline", { from: 1, to: 1e6, whole: true, example: 5 }),
    );
  command
    .optionsGroup("Encoder:")
    .option(
      "--encoder <name>",
      'encoder to start from: a name that "joust models" lists, or the folder of a model (default: static)',
    );
  withModelsFlag(command)
    .option(
      "--epochs <n>",
      `passes over all training pairs; 0 does not train (default: ${table.epochs} for static encoders, ${transformer.epochs} for transformers)`,
      number("--epochs", { from: 0, to: 1000, whole: true, example: 4 }),
    )
    .option(
      "--learning-rate <r>",
      `largest learning rate (default: ${table.learningRate} for static encoders, ${transformer.learningRate} for transformers)`,
      number("--learning-rate", { from: 0, to: 1, example: 0.00002 }),
    );
  command
    .optionsGroup("Model embeddings:")
    .option(
      "--weighting <w>",
      `how scores weigh the categories in a model's embedding: ${WEIGHTINGS.join(", ")} (default: excel_perf_cost, or labels for comparisons)`,
      word("--weighting", WEIGHTINGS),
    )
    .option(
      "--tau <n>",
      `number of models that excel in a category, for the excel weightings (default: ${WEIGHTING_DEFAULTS.tau})`,
      number("--tau", { from: 1, to: 1e6, whole: true, example: 3 }),
    )
    .option(
      "--lambda <l>",
      `weight of the cost in perf - lambda * cost (default: ${WEIGHTING_DEFAULTS.lambda})`,
      number("--lambda", { from: 0, example: 0.05 }),
    )
    .option(
      "--temperature <x>",
      `temperature of the weighting's softmax; a smaller one separates models more (default: ${WEIGHTING_DEFAULTS.temperature})`,
      number("--temperature", { from: 1e-6, example: 1 }),
    );
  command
    .optionsGroup("Output:")
    .requiredOption("--out <bundle>", "folder to write", folder("--out"))
    .option("--resume", "continue a fit that was stopped")
    .option("--overwrite", "replace the bundle in --out, or restart a fit that was stopped")
    .option(
      "--seed <n>",
      `the same seed gives the same bundle (default: ${FIT_DEFAULTS.seed})`,
      seed,
    )
    .option("--json", "print only a JSON record of the bundle");
  return command.action(async (data: string, flags: FitFlags) => {
    const { runFit } = await import("../fit/fit.ts");
    process.exitCode = await runFit(data, flags);
  });
}
