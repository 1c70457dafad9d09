import { expect, it } from "vitest";
import { eagle } from "./eagle.ts";
import {
  at,
  K,
  nearestVotes,
  type RandomVote,
  randomDuels,
  taught,
  valuesAt,
} from "./votes.case.ts";

/** Elo as in textbooks: E_a = 1 / (1 + 10^((R_b - R_a) / 400)), R_a <- R_a + k (S_a - E_a). */
function textbook(votes: readonly RandomVote[], start: readonly number[], k: number): number[] {
  const R = [...start];
  for (const { a, b, win, weight } of votes) {
    const expectedA = 1 / (1 + 10 ** ((R[b]! - R[a]!) / 400));
    const expectedB = 1 / (1 + 10 ** ((R[a]! - R[b]!) / 400));
    R[a]! += k * weight * (win - expectedA);
    R[b]! += k * weight * (1 - win - expectedB);
  }
  return R;
}

it("scores P * global + (1 - P) * local, both by textbook Elo", () => {
  const votes = randomDuels(150, 1);
  const options = { K: 24, N: 20, P: 0.3, scale: 4 };
  const policy = taught(eagle, votes, options);
  const x = at(500).x;
  const global = textbook(votes, new Array(K).fill(1000), options.K);
  const local = textbook(nearestVotes(votes, x, options.N), global, options.K);
  const values = valuesAt(policy, x);
  for (let k = 0; k < K; k++) {
    const score = 0.3 * global[k]! + 0.7 * local[k]! - 1000;
    expect(values[k]).toBeCloseTo((score * Math.LN10) / 400 / options.scale, 10);
  }
});

it("uses only the global rating at P = 1, which is the same for all queries", () => {
  const policy = taught(eagle, randomDuels(100, 2), { P: 1 });
  expect(valuesAt(policy, at(1).x)).toEqual(valuesAt(policy, at(2).x));
});

it("moves by at most K, whatever the weight of a vote", () => {
  const votes = randomDuels(1, 3).map((vote) => ({ ...vote, win: 1, weight: 1e6 }));
  const values = valuesAt(taught(eagle, votes, { P: 1, K: 32, scale: 1 }), at(0).x);
  expect(Math.max(...values)).toBeCloseTo((16 * Math.LN10) / 400, 12);
});
