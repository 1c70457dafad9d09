import { expect, it } from "vitest";
import { slowBradleyTerry } from "../bradley-terry.case.ts";
import { clusterBradleyTerry } from "./cluster-bradley-terry.ts";
import { at, cosine, K, pool, randomDuels, taught, valuesAt } from "./votes.case.ts";

const category = (x: Float64Array) => {
  const cosines = pool.centroids.map((xi) => cosine(xi, x));
  return cosines.indexOf(Math.max(...cosines));
};

it("agrees with a slow fit to the cluster's votes whose prior mean is a slow fit to all votes", () => {
  const votes = randomDuels(150, 1);
  const options = { globalSd: 0.6, clusterSd: 0.9, scale: 4 };
  const policy = taught(clusterBradleyTerry, votes, options);
  const plain = votes.map((vote) => ({ ...vote, offset: 0 }));
  const global = slowBradleyTerry(plain, new Array(K).fill(0), 0.6 ** -2);
  for (const { x } of [at(600), at(601), at(602), at(603)]) {
    const own = plain.filter((vote) => category(vote.x) === category(x));
    const expected = slowBradleyTerry(own, global, 0.9 ** -2);
    valuesAt(policy, x).forEach((value, m) => {
      expect(value).toBeCloseTo(expected[m]! / 4, 6);
    });
  }
});

it("rates models in a new category by their global ratings", () => {
  const votes = randomDuels(150, 1).filter((vote) => category(vote.x) !== 2);
  const policy = taught(clusterBradleyTerry, votes, { globalSd: 0.6, scale: 4 });
  const plain = votes.map((vote) => ({ ...vote, offset: 0 }));
  const global = slowBradleyTerry(plain, new Array(K).fill(0), 0.6 ** -2);
  valuesAt(policy, pool.centroids[2]!).forEach((value, m) => {
    expect(value).toBeCloseTo(global[m]! / 4, 6);
  });
});
