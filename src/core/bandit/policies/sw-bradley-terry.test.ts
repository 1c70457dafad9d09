import { expect, it } from "vitest";
import { slowBradleyTerry } from "../bradley-terry.case.ts";
import { similarityWeights, swBradleyTerry } from "./sw-bradley-terry.ts";
import { at, cosine, K, randomDuels, taught, valuesAt } from "./votes.case.ts";

it("agrees with the slow fit to all votes, weighted by gamma^(1 + S)", () => {
  const votes = randomDuels(150, 1);
  const policy = taught(swBradleyTerry, votes, { gamma: 50, sd: 0.8, scale: 4 });
  const { x } = at(600);
  const cosines = votes.map((vote) => cosine(vote.x, x));
  const top = Math.max(...cosines);
  const weighted = votes.map((vote, i) => {
    return { ...vote, offset: 0, weight: vote.weight * 50 ** (1 + cosines[i]! / top) };
  });
  // The weights of RouteLLM go up to gamma^2, so our prior corresponds to one of gamma^2 times its precision.
  const expected = slowBradleyTerry(weighted, new Array(K).fill(0), 0.8 ** -2 * 50 ** 2);
  valuesAt(policy, x).forEach((value, m) => {
    expect(value).toBeCloseTo(expected[m]! / 4, 6);
  });
});

it("gives the nearest vote weight 1, and all votes equal weights if none is similar", () => {
  expect([...similarityWeights(Float64Array.of(0.4, 0.8, -0.4), 16)]).toEqual([
    0.25,
    1,
    16 ** -1.5,
  ]);
  expect([...similarityWeights(Float64Array.of(0, -0.5), 16)]).toEqual([1 / 16, 1 / 16]);
  expect(similarityWeights(new Float64Array(0), 16)).toHaveLength(0);
});
