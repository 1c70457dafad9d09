/** Display names of the categories of the bundled questions. */
const TOPICS: Readonly<Record<string, string>> = {
  mmlu: "Knowledge",
  "mt-bench": "Writing",
  mbpp: "Python",
  hellaswag: "Everyday life",
  winogrande: "Reading",
  gsm8k: "Maths",
  "arc-challenge": "Science",
};

export function topicOf(category: string): string {
  return TOPICS[category] ?? category;
}
