import { readFileSync } from "node:fs";

/**
 * The printed table "Scores of Perf_cost, Excel_perf_cost, and Excel_mask" of the paper:
 * its columns (i) and (iii), in the order of CATEGORIES. In all 70 cells, column (ii) is
 * (i) if (iii) is 1, else 0.
 */
export const CATEGORIES = [
  "mmlu",
  "mt-bench",
  "mbpp",
  "hellaswag",
  "winogrande",
  "gsm8k",
  "arc-challenge",
];

/** Model, column (i), and the digits of column (iii). */
const TABLE = `wizardlm-13b 0.562 0.796 0.363 0.6 0.51 0.492 0.657 0000000
mistral-7b 0.558 0.779 0.349 0.517 0.561 0.399 0.64 0000000
mixtral-8x7b 0.721 0.92 0.572 0.634 0.673 0.485 0.837 1110101
code-llama-34b 0.553 0.795 0.464 0.431 0.612 0.424 0.635 0000000
yi-34b 0.727 0.937 0.331 0.834 0.743 0.509 0.873 1101111
gpt-3.5 0.7 0.907 0.649 0.695 0.623 0.543 0.844 1111111
claude-instant-v1 0.368 0.862 0.547 0.704 0.507 0.561 0.812 0001010
llama-70b 0.629 0.853 0.3 0.627 0.498 0.486 0.784 0000000
claude-v1 0.312 0.92 0.497 -0.131 0.516 0.099 0.798 0100000
claude-v2 0.456 0.84 0.567 -0.554 0.392 -0.011 0.454 0010000`;

export const PRINTED = Object.fromEntries(
  TABLE.split("\n").map((line) => {
    const [model, ...cells] = line.split(" ");
    const mask = [...cells.pop()!].map(Number);
    return [model!, { perfCost: cells.map(Number), mask }];
  }),
);

/** Perf and Cost of the models by category, from data/scores/routerbench.csv. */
export function readScores(models: readonly string[]) {
  const file = new URL("../../../data/scores/routerbench.csv", import.meta.url);
  const lines = readFileSync(file, "utf8").trim().split("\n").slice(1);
  const cells = new Map(
    lines.map((line) => {
      const [model, category, perf, cost] = line.split(",");
      return [`${model} ${category}`, { perf: Number(perf), cost: Number(cost) }];
    }),
  );
  const table = (column: "perf" | "cost") =>
    models.map((model) =>
      Float64Array.from(CATEGORIES, (category) => cells.get(`${model} ${category}`)![column]),
    );
  return { perf: table("perf"), cost: table("cost") };
}
