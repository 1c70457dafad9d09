import { expect, it } from "vitest";
import { slowBradleyTerry } from "../bradley-terry.case.ts";
import { knnBradleyTerry } from "./knn-bradley-terry.ts";
import { at, K, nearestVotes, randomDuels, taught, valuesAt } from "./votes.case.ts";

it.each([7, 60, 1000])("agrees with the slow fit to the %i nearest votes", (k) => {
  const votes = randomDuels(150, 1);
  const policy = taught(knnBradleyTerry, votes, { k, sd: 0.8, scale: 4 });
  const { x } = at(600);
  const near = nearestVotes(votes, x, k).map((vote) => ({ ...vote, offset: 0 }));
  const expected = slowBradleyTerry(near, new Array(K).fill(0), 0.8 ** -2);
  valuesAt(policy, x).forEach((value, m) => {
    expect(value).toBeCloseTo(expected[m]! / 4, 6);
  });
});
