import { signed } from "./format.ts";

/**
 * Quality in wins: a difference d of quality means that an answer is preferred d more often than the other one is, so
 * of 100 comparisons it wins 50 + 50 d. A tie is half a win.
 */
export function winsOf(quality: number): string {
  return hundred((1 + quality) / 2);
}

/** A share of wins as a number of 100, never 0 or 100: nothing is that certain. */
export function hundred(share: number): string {
  return String(Math.min(99, Math.max(1, Math.round(100 * share))));
}

/** Quality less the price in wins of 100, which may be below 0. */
export function netWins(net: number): string {
  return String(Math.round(50 + 50 * net)).replace("-", "\u2212");
}

/** A difference of quality as wins of 100 with its sign: +6, −0.4. */
export function signedWins(difference: number): string {
  const wins = 50 * difference;
  return signed(wins, Math.abs(wins) < 1 ? 1 : 0);
}

/** A loss of quality as wins of 100. */
export function lostWins(regret: number): string {
  return (50 * regret).toFixed(1);
}

/** Explains a number of wins. */
export const WINS_HINT =
  "Wins of 100 comparisons with the pool's average answer. A tie is half a win.";
