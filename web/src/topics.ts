/** What the categories of the project's questions are about, for who reads. */
const TOPICS: Readonly<Record<string, string>> = {
  mmlu: "Knowledge",
  "mt-bench": "Writing",
  mbpp: "Python",
  hellaswag: "Everyday scenes",
  winogrande: "Reading",
  gsm8k: "Maths",
  "arc-challenge": "Science",
};

export function topicOf(category: string): string {
  return TOPICS[category] ?? category;
}
