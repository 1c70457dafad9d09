import type { Command } from "commander";
import { MATCHES } from "../../gateway/evaluation/match.ts";
import { EVALUATE_DEFAULTS, type EvaluateFlags } from "../evaluate/flags.ts";
import { newCommand } from "../shared/command.ts";
import { folder, names, number, seed, word } from "../shared/flags.ts";
import { withStoreFlags } from "../shared/store-flags.ts";

export function evaluateCommand(): Command {
  const command = newCommand({
    name: "evaluate",
    summary: "send your prompts to your models, score the answers, and teach a router",
    description:
      "Sends prompts to the models of a router and scores the answers, or lets a judge compare them. The models come from joust.yaml, the configuration that was made on the page, the API keys in the environment or, without any of them, the sandbox. The command spends at most --budget and keeps every paid answer in --out; after an interruption, the same command continues. With --router, the router gets the result: scores become its told scores, comparisons become votes of the judge.",
    examples: [
      [
        "Spend at most 5 dollars on 200 of your prompts, and start with a router that knows them",
        "joust evaluate prompts.jsonl --sample 200 --budget 5 --router auto",
        "joust serve",
      ],
      ["See what that would cost", "joust evaluate prompts.jsonl --sample 200 --dry-run"],
      [
        "Try it in the sandbox, without any key",
        "joust evaluate data/queries.jsonl --budget 5 --out out/evaluation",
      ],
      [
        "No reference answers: a model compares the answers, only where the router is unsure",
        "joust evaluate prompts.txt --judge gpt-4o --active --pairs 300 --budget 5 --router auto",
      ],
      [
        "Run the tests of a program on each answer",
        'joust evaluate tasks.jsonl --test "python3 check.py {file}" --test-timeout 20 --budget 5',
      ],
      [
        "Use prompts that a gateway has stored",
        "joust evaluate joust-data --from-log --judge gpt-4o --sample 200 --budget 5 --router auto",
      ],
    ],
    notes: `\
Prompts are jsonl, csv with a header, or text with one prompt per line:
  {"query": "What is 6 * 7?", "answer": "42", "category": "maths"}
A row may have "answer" (a text or a list), "regex" or "schema" (a JSON schema). See docs/evaluate.md.`,
  }).argument(
    "<prompts>",
    "jsonl, csv or text file, plain or gzip; with --from-log, the data folder of joust serve or a postgres:// address",
  );
  command
    .optionsGroup("Prompts and models:")
    .option("--from-log", "use the prompts that a gateway has stored")
    .option(
      "--sample <n>",
      "number of prompts, drawn at random (default: all)",
      number("--sample", { from: 1, to: 1e6, whole: true, example: 200 }),
    )
    .option(
      "--router <name>",
      "router whose models are evaluated and that gets the result (without this option, the models of the only router are evaluated and nothing is changed)",
    )
    .option("--exclude <a,b>", "models to leave out", names("--exclude"))
    .option(
      "--config <file>",
      "configuration file (default: joust.yaml, if it exists, else the configuration in the store)",
    );
  withStoreFlags(command);
  command
    .optionsGroup("Scores (default: the answer, regex or schema of each prompt):")
    .option(
      "--match <way>",
      `how an answer agrees with the reference: ${MATCHES.join(", ")} (default: contains)`,
      word("--match", MATCHES),
    )
    .option("--regex <pattern>", "regular expression that a right answer matches")
    .option("--schema <file>", "JSON schema that a right answer follows")
    .option(
      "--test <command>",
      "program that ends with 0 if the answer is right; the answer is on its standard input and in {file}, the prompt in {prompt}; no shell is involved",
    )
    .option(
      "--test-timeout <s>",
      `seconds after which a test has failed (default: ${EVALUATE_DEFAULTS.testTimeout})`,
      number("--test-timeout", { from: 0.1, to: 3600, example: 10 }),
    );
  command
    .optionsGroup("Comparisons instead of scores:")
    .option("--judge <model>", "model that compares the answers of two models, in both orders")
    .option(
      "--pairs <n>",
      `number of comparisons (default: ${EVALUATE_DEFAULTS.pairs} per prompt)`,
      number("--pairs", { from: 1, to: 1e6, whole: true, example: 300 }),
    )
    .option("--active", "compare only where it can change which model is chosen");
  command
    .optionsGroup("Cost:")
    .option(
      "--budget <usd>",
      "most dollars to spend, together with earlier runs in the same --out",
      number("--budget", { from: 0, example: 5 }),
    )
    .option("--dry-run", "print the number of requests, their cost and time, and send nothing")
    .option(
      "--max-tokens <n>",
      "tokens of the longest answer; the budget reserves them for each request",
      number("--max-tokens", { from: 1, to: 1e6, whole: true, example: 1024 }),
      EVALUATE_DEFAULTS.maxTokens,
    )
    .option(
      "--unpriced <how>",
      "models without a known price: refuse, or estimate at the highest price of the others (default: server.unpriced of the configuration)",
      word("--unpriced", ["refuse", "estimate"] as const),
    )
    .option(
      "--concurrency <n>",
      "requests at the same time",
      number("--concurrency", { from: 1, to: 1000, whole: true, example: 8 }),
      EVALUATE_DEFAULTS.concurrency,
    )
    .option(
      "--retries <n>",
      "further attempts after a failure",
      number("--retries", { from: 0, to: 10, whole: true, example: 2 }),
      EVALUATE_DEFAULTS.retries,
    );
  command
    .optionsGroup("Output:")
    .option(
      "--out <dir>",
      "folder of the results; a run that was stopped continues in it",
      folder("--out"),
      EVALUATE_DEFAULTS.out,
    )
    .option("--seed <n>", `seed of the random choices (default: ${EVALUATE_DEFAULTS.seed})`, seed)
    .option("--json", "print only a JSON record of the result or, with --dry-run, of the plan");
  return command.action(async (prompts: string, flags: EvaluateFlags) => {
    const { runEvaluate } = await import("../evaluate/evaluate.ts");
    process.exitCode = await runEvaluate(prompts, flags);
  });
}
