import type { Stats, Tradeoff } from "../../../src/client.ts";
import { count, dollars, percent, plural, probability } from "../text/format.ts";
import { topicOf } from "../text/topics.ts";
import { hundred } from "../text/wins.ts";

/** The sentence at the top of the dashboard and the numbers behind it. */
interface Headline {
  readonly sentence: string;
  readonly evidence: readonly string[];
}

/**
 * The sentence at the top of the dashboard: the savings, the quality of routing, and the votes that are still needed. A
 * part without data is left out.
 */
export function headlineOf(
  stats: Stats,
  tradeoff: Tradeoff | undefined,
  windowName: string,
): Headline {
  const { spend, counts, forecast } = stats;
  if (spend.requests === 0) {
    return { sentence: `There were no requests in the ${windowName}.`, evidence: [] };
  }
  const open = leastSettled(stats);
  const quality = qualityPart(stats, tradeoff);
  const sentence = [
    `${savingPart(stats, windowName)}${quality === undefined ? "" : `, ${quality}`}.`,
    open === undefined ? "" : openSentence(open),
  ];
  const { learning } = spend;
  return {
    sentence: sentence.filter((part) => part !== "").join(" "),
    evidence: [
      `${plural(spend.requests, "request")} cost ${dollars(spend.total)}.`,
      ...(learning > 0
        ? [
            `About ${dollars(learning)} of that paid for learning: second answers of duels and answers made for a judge. Serving cost ${dollars(spend.total - learning)}.`,
          ]
        : []),
      ...comparisonEvidence(stats),
      `${plural(counts.votes, "vote")} in this time window.`,
      ...(forecast ? [forecastEvidence(forecast)] : []),
    ],
  };
}

function savingPart({ spend, counts, forecast }: Stats, windowName: string): string {
  const { always_best: best } = spend;
  if (!best || best.cost <= 0) {
    return `Routing answered ${plural(spend.requests, "request")} in the ${windowName}; what it saves is unknown, because the best model has no price or was added within this time`;
  }
  if (spend.requests < FEW) {
    return `Routing answered ${plural(spend.requests, "request")} in the ${windowName}, too few to judge what it saves`;
  }
  if (counts.votes > 0 && counts.votes < FEW && (forecast?.learned ?? 0) < FEW) {
    return `Routing answered ${plural(spend.requests, "request")} in the ${windowName}; after ${plural(counts.votes, "vote")} it is too early to judge what it saves`;
  }
  const share = (value: number) => percent(value / best.cost);
  const between = (lo: number, hi: number) =>
    share(lo) === share(hi) ? "" : ` (${share(lo)} to ${share(hi)})`;
  if (best.lo > 0) {
    return `Routing saved ${share(best.savings)}${between(best.lo, best.hi)} in the ${windowName} compared with always using ${best.model}`;
  }
  if (best.hi < 0) {
    const learning =
      spend.learning > 0 ? ", second answers of duels and answers made for a judge included," : "";
    return `Routing${learning} cost ${share(-best.savings)} more${between(-best.hi, -best.lo)} in the ${windowName} than always using ${best.model}`;
  }
  return `In the ${windowName}, routing cost as much as always using ${best.model}, as far as can be told (${share(best.lo)} to ${share(best.hi)} saved)`;
}

/** Number of requests, and of votes, below which savings are not judged. */
const FEW = 20;

/** Quality of routing compared with the model that the savings are compared with. */
function qualityPart(
  { spend: { always_best: best, requests }, counts }: Stats,
  tradeoff: Tradeoff | undefined,
): string | undefined {
  const beaten = tradeoff?.singles.find(({ model }) => model === best?.model)?.beaten;
  if (!best || !beaten || counts.votes < FEW || requests < FEW) return undefined;
  const { mean, lo, hi } = beaten;
  if (hi - lo < 1e-9) return "and now chooses that model for every request";
  const wins = `it wins ${hundred(mean)} of 100 comparisons, ${hundred(lo)} to ${hundred(hi)}`;
  if (lo > 0.5) return `at higher quality (${wins})`;
  if (hi < 0.5) return `at lower quality (${wins})`;
  return `at the same quality as far as votes tell (${wins})`;
}

interface OpenCategory {
  readonly category: string;
  readonly model: string;
  /** Probability that the model is the best in the category. */
  readonly best: number;
  /** Estimated number of further votes on the category; undefined if it cannot be told. */
  readonly votes: number | undefined;
}

/** The category with the largest share of requests whose best model is not known. */
export function leastSettled({ leaderboard, counts, forecast }: Stats): OpenCategory | undefined {
  const votes = Math.max(counts.votes, forecast?.learned ?? 0);
  if (votes < FEW) return undefined;
  const open = leaderboard.categories.flatMap(({ category, share, models }) => {
    const leader = models.toSorted((a, b) => (b.best ?? 0) - (a.best ?? 0))[0];
    if (leader?.best == null || leader.best >= SURE || share < SMALLEST) return [];
    return [{ category, share, model: leader.model, best: leader.best }];
  });
  const [first] = open.toSorted((a, b) => b.share * (1 - b.best) - a.share * (1 - a.best));
  if (!first) return undefined;
  const { category, model, best, share } = first;
  return { category, model, best, votes: votesToSettle(best, share * votes) };
}

/** Probability from which the best model of a category counts as known. */
const SURE = 0.95;
/** Share of the requests below which a category is not worth a sentence. */
const SMALLEST = 0.05;

/**
 * The error of an estimate falls with the square root of the votes. If the leader of n votes is z standard errors ahead,
 * it takes n (1.64 / z)^2 votes until the probability is 95%, provided that the estimate is right.
 */
function votesToSettle(best: number, votes: number): number | undefined {
  const z = normalQuantile(best);
  if (z < 0.25 || votes < 1) return undefined;
  const more = votes * ((1.645 / z) ** 2 - 1);
  return more < 10 ? 10 : Number(more.toPrecision(2));
}

/** Inverse of the normal distribution for probabilities from 0.5 to 0.95 (Abramowitz and Stegun 26.2.23, error below 0.0005). */
function normalQuantile(p: number): number {
  if (p <= 0.5) return 0;
  const t = Math.sqrt(-2 * Math.log(1 - p));
  const above = 2.515517 + t * (0.802853 + t * 0.010328);
  const below = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
  return t - above / below;
}

function openSentence({ category, model, best, votes }: OpenCategory): string {
  const topic = topicOf(category);
  const now = `${model} is the best model with ${probability(best)} probability`;
  return votes === undefined
    ? `Least settled is ${topic}: ${now}.`
    : `About ${count(votes)} more votes would settle ${topic}, where ${now}.`;
}

function comparisonEvidence({ spend: { always_best: best, compared } }: Stats): string[] {
  if (!best || best.cost <= 0) return [];
  return [
    `Always using ${best.model} would have cost ${dollars(best.cost)} instead of ${dollars(compared)}, prompt caches included; the difference is between ${dollars(best.lo)} and ${dollars(best.hi)} with 95% probability.`,
  ];
}

function forecastEvidence({
  verdict,
  sure,
  votes,
  dollars: cost,
  horizon,
  learned,
}: NonNullable<Stats["forecast"]>): string {
  if (verdict === "now") {
    return `Routing beats the best single model with ${probability(sure)} probability, price included.`;
  }
  if (verdict === "never") {
    return `Forecast after ${plural(learned, "vote")}: with this pool, routing will probably not beat the best single model within ${count(horizon)} more votes.`;
  }
  const end = (value: number | null) => (value === null ? `over ${count(horizon)}` : count(value));
  const price = cost?.median != null ? `, which cost about ${dollars(cost.median)}` : "";
  return `Forecast after ${plural(learned, "vote")}: routing beats the best single model with 95% probability after about ${count(votes.median ?? horizon)} more (${end(votes.lo)} to ${end(votes.hi)})${price}.`;
}
