import type { Random } from "../random/random.ts";

/** A vote in the form that the slow references take. */
export interface PlainVote {
  readonly a: number;
  readonly b: number;
  readonly win: number;
  readonly weight: number;
  readonly offset: number;
}

/**
 * A slow and simple fit: gradient ascent on the penalised log-likelihood, one vote at a
 * time, with steps that are short enough for its largest curvature.
 */
export function slowBradleyTerry(
  votes: readonly PlainVote[],
  prior: readonly number[],
  precision: number,
): number[] {
  const r = [...prior];
  const curvature = precision + votes.reduce((sum, vote) => sum + vote.weight / 2, 0);
  for (let iteration = 0; iteration < 1e5; iteration++) {
    const gradient = r.map((value, k) => -precision * (value - prior[k]!));
    for (const { a, b, win, weight, offset } of votes) {
      const p = 1 / (1 + Math.exp(-(offset + r[a]! - r[b]!)));
      gradient[a]! += weight * (win - p);
      gradient[b]! -= weight * (win - p);
    }
    for (let k = 0; k < r.length; k++) r[k]! += gradient[k]! / curvature;
    if (Math.max(...gradient.map(Math.abs)) < 1e-10) break;
  }
  return r;
}

export function randomVotes(count: number, models: number, random: Random): PlainVote[] {
  return Array.from({ length: count }, () => {
    const a = random.integer(models);
    const b = (a + 1 + random.integer(models - 1)) % models;
    return {
      a,
      b,
      win: random.integer(3) / 2,
      weight: 0.1 + random.uniform(),
      offset: random.normal(),
    };
  });
}

/** Converts votes to columns. */
export function columns(votes: readonly PlainVote[]) {
  return {
    size: votes.length,
    a: Int32Array.from(votes, (vote) => vote.a),
    b: Int32Array.from(votes, (vote) => vote.b),
    win: Float64Array.from(votes, (vote) => vote.win),
    weight: Float64Array.from(votes, (vote) => vote.weight),
    offset: Float64Array.from(votes, (vote) => vote.offset),
  };
}
