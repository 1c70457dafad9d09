import type { Band, LearningCurve, Stats, Tradeoff } from "../../../src/client.ts";
import { capital, count, dollars, percent, plural, probability, signed } from "../text/format.ts";
import { hundred, lostWins } from "../text/wins.ts";

/** A short answer to a question about the router. */
export interface Assessment {
  readonly figure: string;
  readonly tone: "good" | "bad" | "open";
  /** Name of the figure. */
  readonly caption: string;
  readonly sentence: string;
}

/** An assessment that cannot be made yet. */
function open(figure: string, caption: string, sentence: string): Assessment {
  return { figure, tone: "open", caption, sentence };
}

/** Explanations of the figures, by the question that they answer. */
export const HINTS = {
  learning:
    "Win rate: the probability that the served answer is preferred to the answer of a random model of the pool, with its 95% interval. 50% is no better than chance. The loss of a request is the number of wins of 100 comparisons that it loses to the best model for it.",
  saving:
    "US dollars spent in the time window, including second answers of duels and answers made for a judge. The comparison estimates what the same requests would have cost with one model for all of them, with a 95% interval.",
  trust:
    "The probability, given all votes so far, that routing is at least as good as the best single model for all requests, price included. The guard serves that model if the votes show that it is better.",
} as const;

/** Is it learning? Compares the regret at the end and at the start of the window, with the current posterior. */
export function learningAssessment(
  { win_rate: win, recent_queries: recent }: Stats,
  learning: LearningCurve | undefined,
): Assessment {
  const caption = win ? `win rate, ${percent(win.lo)} to ${percent(win.hi)}` : "win rate";
  const stretches = learning?.stretches ?? [];
  const [first, last] = [stretches[0], stretches.at(-1)];
  if (win && !learning) {
    return open(percent(win.mean), caption, "Loading\u2026");
  }
  if (!win || !first || !last) {
    const sentence =
      recent === 0
        ? "There are no requests yet. Every vote on a duel teaches the router."
        : "There are no votes yet, so nothing is known about the quality of the models.";
    return open("\u2013", caption, sentence);
  }
  const [then, now, { sure }] = [first.regret, last.regret, last.fallen];
  const regret = `A request loses ${lostWins(now.mean)} wins of 100 to the best model for it`;
  return {
    figure: percent(win.mean),
    tone:
      stretches.length < 2 || (sure > 0.05 && sure < 0.95) ? "open" : sure > 0.5 ? "good" : "bad",
    caption,
    sentence:
      stretches.length > 1
        ? `${regret}; at the start of the window it lost ${lostWins(then.mean)}. The probability that the loss fell is ${probability(sure)}.`
        : `${regret}.`,
  };
}

/** Is it saving? Compares the cost with that of always using the best model. */
export function savingAssessment({ spend, counts, models }: Stats): Assessment {
  const { always_best: best, always_cheapest: cheapest, total } = spend;
  const caption = `spent on ${plural(spend.requests, "request")}`;
  if (!best || best.cost === 0) {
    const sentence =
      spend.requests === 0
        ? "There are no requests yet."
        : "The savings are unknown: the best model has no price, or was added within this time.";
    return open(dollars(total), caption, sentence);
  }
  if (spend.requests < FEW) {
    const sentence = `Too early to tell: ${FEW} requests are the least to compare.`;
    return open(dollars(total), caption, sentence);
  }
  const floor = cheapest
    ? ` Always using ${cheapest.model} would have cost ${dollars(cheapest.cost)}.`
    : "";
  const doubt =
    best.among.length > 1 && best.among.length < models.length
      ? ` Compared with the ${best.among.length} models that may be the best: ${range(best.among_lo, best.among_hi)} saved.`
      : "";
  const interval =
    best.hi < 0
      ? `${range(-best.hi, -best.lo)} more with 95% probability`
      : `${range(best.lo, best.hi)} saved with 95% probability`;
  if (best.savings >= 0) {
    return {
      figure: dollars(total),
      tone: best.lo <= 0 ? "open" : "good",
      caption,
      sentence: `${percent(best.savings / best.cost)} less than the estimated ${dollars(best.cost)} of always using ${best.model}, prompt caches included (${interval}).${doubt}${floor}`,
    };
  }
  // The second answers of duels are a cost of learning, not of serving.
  const once = Math.min(1, spend.requests / Math.max(1, counts.answers - counts.failures));
  const saved = 1 - (once * spend.compared) / best.cost;
  const duels =
    counts.duel_rate > 0
      ? ` ${percent(counts.duel_rate)} of the requests were duels, which call two models`
      : "";
  const without =
    duels === "" ? "" : saved > 0 ? `; without them it would save ${percent(saved)}.` : ".";
  return {
    figure: dollars(total),
    tone: saved > 0 || best.hi >= 0 ? "open" : "bad",
    caption,
    sentence: `${dollars(-best.savings)} more than always using ${best.model}, prompt caches included (${interval}).${duels}${without}${doubt}${floor}`,
  };
}

function range(lo: number, hi: number): string {
  return `${dollars(lo)} to ${dollars(hi)}`;
}

/** Number of requests below which the savings are not judged. */
const FEW = 20;

/**
 * Can it be trusted? Shows the probability that routing is at least as good as always using the best single
 * model.
 */
export function trustAssessment(
  { guard, mode, counts, forecast, shadow }: Stats,
  tradeoff: Pick<Tradeoff, "advantage" | "singles"> | undefined,
): Assessment {
  const advantage = tradeoff?.advantage;
  // Ratings are votes on one answer, and `votes` includes them.
  const cast = counts.votes;
  const outlook = forecast ? ` ${forecastSentence(forecast)}` : "";
  const votes = `${plural(cast, "vote")} of all voters in this time window.${outlook}`;
  if (guard !== null) {
    return {
      figure: "Guard on",
      tone: "bad",
      caption: `${guard} answers all requests`,
      sentence: `The votes show that ${guard} alone is better than routing, so it answers until that changes. ${votes}`,
    };
  }
  if (mode === "observe" && shadow) return shadowAssessment(shadow, votes);
  if (mode !== "apply") {
    return open(
      mode === "observe" ? "Observing" : "Bypassed",
      "the router does not choose",
      `The configuration decides which model answers. ${votes}`,
    );
  }
  if (!advantage || (cast === 0 && advantage.lo === advantage.hi)) {
    return open(
      "\u2013",
      "not enough data yet",
      `Before the first votes the router knows only the prices, so it chooses the cheapest model. ${votes}`,
    );
  }
  const { over, sure, mean, lo, hi } = advantage;
  if (hi - lo < 1e-9) {
    return open(
      "No difference",
      `from always using ${over}`,
      `The router would choose this model for all recent prompts, so routing gains nothing and risks nothing. The guard is off. ${votes}`,
    );
  }
  return {
    figure: capital(probability(sure)),
    tone: sure >= 0.9 ? "good" : sure < 0.1 ? "bad" : "open",
    caption: `probability that routing is at least as good as always using ${over}`,
    sentence: `${worthOf(tradeoff!.singles.find(({ model }) => model === over)?.beaten, { mean, lo, hi })} The guard is off. ${votes}`,
  };
}

/** Wins of routing against the best single model; without samples of the posterior, its advantage in units of quality. */
function worthOf(beaten: Band | null | undefined, { mean, lo, hi }: Band): string {
  return beaten
    ? `Against it, routing wins ${hundred(beaten.mean)} of 100 comparisons (${hundred(beaten.lo)} to ${hundred(beaten.hi)}); its price counts too.`
    : `Compared with it, routing is worth ${signed(mean, 2)} of quality per request, price included (${signed(lo, 2)} to ${signed(hi, 2)}).`;
}

/** When routing will beat the best single model with a probability of 95%. */
export function forecastSentence({
  verdict,
  votes,
  horizon,
  learned,
}: NonNullable<Stats["forecast"]>): string {
  if (verdict === "now") return "Routing pays now.";
  if (verdict === "never") {
    return `Routing will probably not pay with this pool: not within ${count(horizon)} more votes.`;
  }
  const end = (value: number | null) => (value === null ? `over ${count(horizon)}` : count(value));
  return `Forecast after ${plural(learned, "vote")}: about ${count(votes.median ?? horizon)} more until routing pays (${end(votes.lo)} to ${end(votes.hi)}).`;
}

/** In mode observe: would routing be better than what is served? */
function shadowAssessment(
  { comparisons, win_rate: win, cost, latency_ms: latency }: NonNullable<Stats["shadow"]>,
  votes: string,
): Assessment {
  const parts = [
    ...(cost ? [`cost ${difference(cost, dollars)}`] : []),
    ...(latency ? [`took ${difference(latency, seconds)}`] : []),
  ];
  const effect = parts.length === 0 ? "" : ` On average, its answers ${parts.join(" and ")}.`;
  return {
    figure: percent(win.mean),
    tone: win.lo > 0.5 ? "good" : win.hi < 0.5 ? "bad" : "open",
    caption: `win rate of the router's choice, ${percent(win.lo)} to ${percent(win.hi)}`,
    sentence: `Observing: a judge compared it with the served answer in ${plural(comparisons, "request")} in which they differ.${effect} ${votes}`,
  };
}

function seconds(milliseconds: number): string {
  return `${signed(milliseconds / 1000, 1).replace("+", "")} s`;
}

/** A difference in words, with its interval in the same direction: "$0.40 less ($0.30 to $0.50)". */
function difference({ mean, lo, hi }: Band, format: (value: number) => string): string {
  const [sign, word] = mean < 0 ? [-1, "less"] : [1, "more"];
  const [from, to] = mean < 0 ? [-hi, -lo] : [lo, hi];
  return `${format(sign * mean)} ${word} (${format(from)} to ${format(to)})`;
}
