import { describe, expect, it } from "vitest";
import { Random } from "../../random/random.ts";
import { easyProblem } from "../policy.case.ts";
import { greedy, opponent } from "./greedy.ts";

describe("the opponent of the best model", () => {
  const value = (k: number) => [0.9, 0.2, 0.5, 0.4][k]!;
  const opponentShares = (votes: number, duels: number, epsilon: number, n = 4000) => {
    const random = Random.seeded(1);
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < n; i++) {
      counts[opponent(0, [0, 1, 2, 3], value, votes, { duels, epsilon }, random)]! += 1 / n;
    }
    return counts;
  };

  it("is the second best in every round at first", () => {
    expect(opponentShares(0, 50, 0)).toEqual([0, 0, expect.closeTo(1, 9), 0]);
    expect(opponentShares(50, 50, 0)).toEqual([0, 0, expect.closeTo(1, 9), 0]);
  });

  it("is itself more often as votes arrive", () => {
    // A share of 50 / 200 duels; 5 standard errors.
    const [itself, , second] = opponentShares(200, 50, 0);
    const error = 5 * Math.sqrt((0.25 * 0.75) / 4000);
    expect(Math.abs(itself! - 0.75)).toBeLessThan(error);
    expect(Math.abs(second! - 0.25)).toBeLessThan(error);
  });

  it("is drawn from the other models in a share epsilon of the duels", () => {
    const [itself, third, second, other] = opponentShares(0, 50, 0.6);
    expect(itself).toBe(0);
    for (const [share, expected] of [
      [third, 0.2],
      [second, 0.6],
      [other, 0.2],
    ]) {
      expect(Math.abs(share! - expected!)).toBeLessThan(5 * Math.sqrt(0.24 / 4000));
    }
  });

  it("is itself if it is the only candidate", () => {
    expect(opponent(2, [2], value, 0, { duels: 50, epsilon: 1 }, Random.seeded(1))).toBe(2);
  });
});

describe("greedy", () => {
  it.each(["hadamard", "category"])(
    "prefers the model that has won, on %s features",
    (features) => {
      const problem = easyProblem(1);
      const { x } = problem.queries.find(({ m }) => m === 1)!; // a query on which model 1 has the best told score
      const policy = greedy.create(problem.pool, { ...greedy.defaults, features, sd: 5 });
      for (let t = 0; t < 300; t++) {
        const pair = [1 + (t % 3), 0] as const;
        policy.learn({ kind: "duel", x, pair, outcome: "b" }, Random.seeded(1));
      }
      const round = { x, candidates: [0, 1, 2, 3] };
      expect(policy.choose(round, Random.seeded(1)).pair[0]).toBe(0);
      const penalty = Float64Array.of(100, 0, 0, 0);
      expect(policy.choose({ ...round, penalty }, Random.seeded(1)).pair[0]).not.toBe(0);
    },
  );
});
