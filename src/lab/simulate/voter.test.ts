import { describe, expect, it } from "vitest";
import type { Outcome } from "../../core/bandit/policy.ts";
import { Random } from "../../core/random/random.ts";
import type { StoredVerdict } from "../data/dataset.ts";
import type { Arrival } from "./environment.ts";
import { SETTINGS, type Settings, type Voters } from "./settings.ts";
import { castVote } from "./voter.ts";

const VOTES = 20_000;
/** At least four sd of a share of VOTES votes. */
const NEAR = 4 * Math.sqrt(0.25 / VOTES);

function arrivalOf(utilities: readonly number[], comparisons?: readonly StoredVerdict[]): Arrival {
  const values = Float64Array.from(utilities);
  const best = Math.max(...utilities);
  return {
    query: { id: "q", text: "", category: 0, ...(comparisons && { comparisons }) },
    x: Float64Array.of(1),
    scores: values,
    utilities: values,
    costs: undefined,
    best,
    bestScore: best,
  };
}

function settingsOf({ voters, ...rest }: Change): Settings {
  return { ...SETTINGS, ...rest, voters: { ...SETTINGS.voters, ...voters } };
}
type Change = Partial<Omit<Settings, "voters">> & { voters?: Partial<Voters> };

function votesOn(arrival: Arrival, pair: readonly [number, number], change: Change = {}) {
  const settings = settingsOf(change);
  const random = Random.seeded(1);
  return Array.from({ length: VOTES }, (_, t) =>
    castVote(arrival, pair, settings, random.split(t)),
  );
}

function shareOf(votes: readonly { outcome: Outcome }[], outcome: Outcome): number {
  return votes.filter((vote) => vote.outcome === outcome).length / votes.length;
}

/** Davidson's formula (1970): strengths e^(s u), ties in proportion to their geometric mean. */
function davidsonOf(ua: number, ub: number, s: number, width: number) {
  const a = Math.exp(s * ua);
  const b = Math.exp(s * ub);
  const tie = width * Math.sqrt(a * b);
  return { a: a / (a + b + tie), b: b / (a + b + tie), tie: tie / (a + b + tie) };
}

describe("an honest voter", () => {
  it.each([
    { voteScale: 3, ties: 0 },
    { voteScale: 3, ties: 1 },
    { voteScale: 10, ties: 0.5 },
    { voteScale: 0, ties: 0 },
  ])("votes as Davidson's model has it: $voteScale, $ties", ({ voteScale, ties }) => {
    const votes = votesOn(arrivalOf([0.7, 0.5]), [0, 1], { voteScale, ties });
    const expected = davidsonOf(0.7, 0.5, voteScale, ties);
    for (const outcome of ["a", "b", "tie"] as const) {
      expect(Math.abs(shareOf(votes, outcome) - expected[outcome])).toBeLessThan(NEAR);
    }
    if (ties === 0) expect(shareOf(votes, "tie")).toBe(0);
  });

  it("votes symmetrically: with the pair swapped, the outcomes are swapped", () => {
    const arrival = arrivalOf([0.7, 0.5]);
    const there = shareOf(votesOn(arrival, [0, 1]), "a");
    const back = shareOf(votesOn(arrival, [1, 0]), "b");
    expect(Math.abs(there - back)).toBeLessThan(2 * NEAR);
  });

  it("with a position bias adds logits to the answer shown first", () => {
    const arrival = arrivalOf([0.5, 0.5]);
    for (const pair of [[0, 1] as const, [1, 0] as const]) {
      const first = shareOf(votesOn(arrival, pair, { voters: { position: 0.8 } }), "a");
      expect(Math.abs(first - 1 / (1 + Math.exp(-0.8)))).toBeLessThan(NEAR);
    }
  });

  it("says both_bad exactly if both utilities are below the bound", () => {
    const change: Change = { voters: { bothBad: 0.4 } };
    const share = (utilities: number[]) =>
      shareOf(votesOn(arrivalOf(utilities), [0, 1], change), "both_bad");
    expect(share([0.3, 0.39])).toBe(1);
    expect(share([0.3, 0.4])).toBe(0);
    expect(share([0.5, 0.1])).toBe(0);
    expect(shareOf(votesOn(arrivalOf([-2, -1]), [0, 1]), "both_bad")).toBe(0);
  });
});

describe("among many voters", () => {
  const certain = arrivalOf([1, 0]);
  const mixed: Change = { voteScale: 100, voters: { count: 20, noisy: 0.2, malicious: 0.3 } };

  it("noisy ones toss a coin and malicious ones reverse the truth, in their shares", () => {
    const votes = votesOn(certain, [0, 1], mixed);
    // 0.5 honest + 0.2 / 2 noisy say a.
    expect(Math.abs(shareOf(votes, "a") - 0.6)).toBeLessThan(NEAR);
    const right = new Map<string, number[]>();
    for (const { voter, outcome } of votes) {
      right.set(voter, [...(right.get(voter) ?? []), outcome === "a" ? 1 : 0]);
    }
    expect(right.size).toBe(20);
    const records = [...right.values()].map((all) => all.reduce((s, x) => s + x, 0) / all.length);
    expect(records.filter((share) => share === 1).length).toBe(10);
    expect(records.filter((share) => share === 0).length).toBe(6);
    // sd of a voter's share over some 1,000 votes is 0.016.
    expect(records.filter((share) => Math.abs(share - 0.5) < 0.07).length).toBe(4);
  });

  it("reversing keeps ties and both_bad", () => {
    const malicious = { malicious: 1 };
    const ties = votesOn(arrivalOf([0.5, 0.5]), [0, 1], { ties: 1, voters: malicious });
    expect(Math.abs(shareOf(ties, "tie") - 1 / 3)).toBeLessThan(NEAR);
    const bad = votesOn(arrivalOf([0, 0]), [0, 1], { voters: { ...malicious, bothBad: 0.5 } });
    expect(shareOf(bad, "both_bad")).toBe(1);
  });
});

describe("a stored verdict", () => {
  const won: StoredVerdict = { a: 0, b: 1, outcome: "a" };

  it("is the vote, in the order shown, whatever the utilities", () => {
    const arrival = arrivalOf([0, 1, 0.5], [won]);
    const change: Change = { voteScale: 100, voters: { position: 5, bothBad: 2 } };
    expect(shareOf(votesOn(arrival, [0, 1], change), "a")).toBe(1);
    expect(shareOf(votesOn(arrival, [1, 0], change), "b")).toBe(1);
    // It does not apply to another pair.
    expect(shareOf(votesOn(arrival, [0, 2], { voteScale: 100 }), "b")).toBe(1);
  });

  it("of both orders: each is used equally often, turned to the order shown", () => {
    const arrival = arrivalOf(
      [0, 1],
      [won, { a: 1, b: 0, outcome: "a" }, { a: 1, b: 0, outcome: "tie" }],
    );
    for (const pair of [[0, 1] as const, [1, 0] as const]) {
      const votes = votesOn(arrival, pair);
      for (const outcome of ["a", "b", "tie"] as const) {
        expect(Math.abs(shareOf(votes, outcome) - 1 / 3)).toBeLessThan(NEAR);
      }
    }
  });

  it("is reversed by a malicious voter and ignored by a noisy one", () => {
    const arrival = arrivalOf([0, 1], [won]);
    expect(shareOf(votesOn(arrival, [0, 1], { voters: { malicious: 1 } }), "b")).toBe(1);
    const noisy = shareOf(votesOn(arrival, [0, 1], { voters: { noisy: 1 } }), "a");
    expect(Math.abs(noisy - 0.5)).toBeLessThan(NEAR);
  });
});

it("two policies that show the same pair in the same round get the same vote of the same voter", () => {
  const arrival = arrivalOf([0.7, 0.5, 0.6]);
  const settings = settingsOf({ ties: 0.5, voters: { count: 9, noisy: 0.2, malicious: 0.2 } });
  let voters = 0;
  for (let t = 0; t < 200; t++) {
    const round = Random.seeded(1).split(t);
    const first = castVote(arrival, [0, 1], settings, round);
    round.uniform();
    expect(castVote(arrival, [0, 1], settings, round)).toEqual(first);
    // The same voter judges another pair.
    if (castVote(arrival, [1, 2], settings, round).voter === first.voter) voters++;
  }
  expect(voters).toBe(200);
});
