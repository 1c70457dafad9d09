/** Known spellings of the paper's seven benchmarks. Any other category keeps its spelling. */
const SPELLINGS: Record<string, readonly string[]> = {
  mmlu: ["mmlu"],
  "mt-bench": ["mt-bench", "mtbench"],
  mbpp: ["mbpp"],
  hellaswag: ["hellaswag", "hella-swag"],
  winogrande: ["winogrande", "wino-grande", "winograde"],
  gsm8k: ["gsm8k", "gsm-8k", "grade-school-math"],
  "arc-challenge": ["arc-challenge", "arc", "arc-c", "ai2-arc"],
};

const ALIASES = new Map(
  Object.entries(SPELLINGS).flatMap(([name, aliases]) => aliases.map((alias) => [alias, name])),
);

/** The standard spelling of a category: MT-Bench, mt_bench and "MT bench" are mt-bench. */
export function categoryName(name: string): string {
  const trimmed = name.trim();
  return ALIASES.get(trimmed.toLowerCase().replace(/[\s_-]+/g, "-")) ?? trimmed;
}
