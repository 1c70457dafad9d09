import type { Learning, Stats, Tradeoff } from "../api/stats.ts";
import { dollars, percent, plural, signed } from "../format.ts";

/** The answer to one question at a glance. */
export interface Verdict {
  readonly figure: string;
  readonly tone: "good" | "bad" | "open";
  /** What the figure is. */
  readonly caption: string;
  readonly sentence: string;
}

/** Is it learning? Requests of now against requests of then, by what is believed now. */
export function learningVerdict({ win_rate: win }: Stats, learning: Learning | undefined): Verdict {
  const caption = win ? `win rate, ${percent(win.lo)} to ${percent(win.hi)}` : "win rate";
  const stretches = learning?.stretches ?? [];
  const [first, last] = [stretches[0], stretches.at(-1)];
  if (win && !learning) {
    return { figure: percent(win.mean), tone: "open", caption, sentence: "Looking back\u2026" };
  }
  if (!win || !first || !last) {
    return {
      figure: "\u2013",
      tone: "open",
      caption,
      sentence: "Nothing was asked yet. Each vote on a duel teaches the router.",
    };
  }
  const [then, now, { sure }] = [first.regret, last.regret, last.fallen];
  const from = `Choices lose ${now.mean.toFixed(2)} of quality to the best possible`;
  return {
    figure: percent(win.mean),
    tone:
      stretches.length < 2 || (sure > 0.05 && sure < 0.95) ? "open" : sure > 0.5 ? "good" : "bad",
    caption,
    sentence:
      stretches.length > 1
        ? `${from}, ${then.mean.toFixed(2)} at the beginning of the window: ${sure > 0.99 ? "over 99%" : percent(sure)} sure that this is less.`
        : `${from}.`,
  };
}

/** Is it saving? */
export function savingVerdict({ spend, counts, models }: Stats): Verdict {
  const { always_best: best, always_cheapest: cheapest, total } = spend;
  const caption = `spent on ${plural(spend.requests, "request")}`;
  if (!best || best.cost === 0) {
    const sentence =
      spend.requests === 0 ? "No request yet." : "Prices are not known, so savings are not either.";
    return { figure: dollars(total), tone: "open", caption, sentence };
  }
  const isEarly = spend.requests < FEW;
  const floor = cheapest
    ? ` Always ${cheapest.model} would have cost ${dollars(cheapest.cost)}.`
    : "";
  // That any of all may be the best says nothing.
  const doubt =
    best.among.length > 1 && best.among.length < models.length
      ? ` Against the ${best.among.length} that may be the best: ${dollars(best.lo)} to ${dollars(best.hi)} saved.`
      : "";
  if (best.savings >= 0) {
    return {
      figure: dollars(total),
      tone: isEarly ? "open" : "good",
      caption,
      sentence: `${percent(best.savings / best.cost)} less than always ${best.model} (${dollars(best.cost)}).${doubt}${floor}`,
    };
  }
  // The second answers of duels are the price of learning, not of serving.
  const once = Math.min(1, spend.requests / Math.max(1, counts.answers - counts.failures));
  const saved = 1 - (once * total) / best.cost;
  const duels =
    counts.duel_rate > 0
      ? ` ${percent(counts.duel_rate)} of requests were duels, which ask two models`
      : "";
  const without = duels === "" ? "" : saved > 0 ? `; without, it saves ${percent(saved)}.` : ".";
  return {
    figure: dollars(total),
    tone: isEarly || saved > 0 ? "open" : "bad",
    caption,
    sentence: `${dollars(-best.savings)} more than always ${best.model}.${duels}${without}${doubt}${floor}`,
  };
}

/** Requests that prove nothing. */
const FEW = 20;

/** Can it be trusted? Not to know the best of all models, which may be a matter of luck among equals, but to do no harm. */
export function trustVerdict(
  { guard, mode, counts }: Stats,
  advantage: Tradeoff["advantage"] | undefined,
): Verdict {
  const cast = counts.votes + counts.ratings;
  const votes = `${plural(cast, "vote")} in this window.`;
  if (guard !== null) {
    return {
      figure: "Guard on",
      tone: "bad",
      caption: `${guard} answers`,
      sentence: `Votes say that ${guard} alone does better than routing, so it answers until they say otherwise. ${votes}`,
    };
  }
  if (mode !== "apply") {
    return {
      figure: mode === "observe" ? "Observing" : "Bypassed",
      tone: "open",
      caption: "the router does not choose",
      sentence: `The configuration says who answers. ${votes}`,
    };
  }
  if (!advantage || (cast === 0 && advantage.lo === advantage.hi)) {
    return {
      figure: "\u2013",
      tone: "open",
      caption: "nothing to go by yet",
      sentence: `Before the first votes price decides among models that nothing is known of. ${votes}`,
    };
  }
  const { over, sure, mean, lo, hi } = advantage;
  if (hi - lo < 1e-9) {
    return {
      figure: "All the same",
      tone: "open",
      caption: `as always ${over}`,
      sentence: `It would answer all recent questions, so routing gains nothing on them and risks nothing. The guard is off. ${votes}`,
    };
  }
  return {
    figure: sure > 0.99 ? "Over 99%" : percent(sure),
    tone: sure >= 0.9 ? "good" : sure < 0.1 ? "bad" : "open",
    caption: `sure that routing is no worse than always ${over}`,
    sentence: `It is worth ${signed(mean, 2)} of quality a request beside it, price included (${signed(lo, 2)} to ${signed(hi, 2)}). The guard is off. ${votes}`,
  };
}
