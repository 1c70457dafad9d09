const TERMS: readonly (readonly [string, string])[] = [
  ["Duel", "A request that two models answer. A vote says which answer is better."],
  ["Vote", "A judgement of a duel (A, B, tie or both bad) or of one answer (good or bad)."],
  [
    "Wins of 100",
    "The unit of quality: of 100 comparisons with the pool's average answer, how many a model wins. A tie is half a win. 50 is average.",
  ],
  [
    "Win rate",
    "Probability that the served answer is preferred to the answer of a random model of the pool.",
  ],
  [
    "Regret",
    "Wins of 100 that a request loses because it was not answered by the best model for it.",
  ],
  [
    "95% interval",
    "The range that contains the true value with 95% probability, given the votes so far. More votes make it narrower.",
  ],
  ["Best", "Probability that a model is the best one of the pool."],
  [
    "Category",
    "A kind of prompt, such as code or maths. The router weighs what it knows about similar prompts.",
  ],
  ["Posterior", "Everything that the router has learned from votes, with its uncertainty."],
  [
    "Savings",
    "Estimated cost of the same conversations with one model for everything, prompt caches included, minus the actual cost.",
  ],
  [
    "Cost of learning",
    "Second answers of duels and answers made for a judge: without comparisons nothing is learned. Random choices are a cost of serving, because their answers are used.",
  ],
  ["Trade-off", "cost_quality_tradeoff, from 0 (best quality) to 10 (lowest cost)."],
  ["Guard", "Serves the best single model for all requests if votes show that routing does worse."],
  ["p95", "Time in which 95 of 100 answers were complete."],
];

/** Explains the words of the dashboard. */
export function Glossary() {
  return (
    <details class="rounded-2xl border border-line bg-surface p-4 sm:p-5">
      <summary class="font-semibold">Glossary</summary>
      <dl class="mt-3 grid gap-x-8 gap-y-3 text-sm md:grid-cols-2">
        {TERMS.map(([term, meaning]) => (
          <div key={term}>
            <dt class="font-medium">{term}</dt>
            <dd class="text-muted">{meaning}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
