import { describe, expect, it } from "vitest";
import type { Feedback, PolicyKind } from "../../../core/bandit/policy.ts";
import { Random } from "../../../core/random/random.ts";
import KINDS from "./kinds.ts";
import { learningFromLikes } from "./likes.ts";
import { contextWith, HASH, OWN } from "./own.fixture.ts";
import type { RunSpec, RunValue } from "./specs.ts";

describe("likes of single answers", () => {
  it("come once per round for the model that answers, as often as it would beat an average answer", () => {
    const learned: Feedback[] = [];
    const spy: PolicyKind = {
      name: "spy",
      summary: "",
      defaults: {},
      create: () => ({
        choose: () => ({ pair: [1, 0] }),
        learn: (feedback) => learned.push(feedback),
        snapshot: () => ({ models: [], state: 0 }),
        restore() {},
      }),
    };
    const pool = { models: ["a", "b", "c"], categories: [], centroids: [] };
    const utilities = () => Float64Array.of(0.2, 0.7, 0.3);
    const hindsight = { utilities, bestFixed: 1, stream: [] };
    const policy = learningFromLikes(spy, 3).create(pool, {}, hindsight);
    const rounds = 4000;
    for (let t = 0; t < rounds; t++) {
      const round = { x: Float64Array.of(t), candidates: [0, 1, 2] };
      expect(policy.choose(round, Random.seeded(t)).pair).toEqual([1, 1]);
      policy.learn({ kind: "duel", x: round.x, pair: [0, 1], outcome: "a" }, Random.seeded(t));
    }
    const ratings = learned.flatMap((one) => (one.kind === "rating" ? [one] : []));
    expect(learned).toHaveLength(rounds);
    expect(ratings.map(({ x, model }) => [x[0], model])).toEqual(
      Array.from({ length: rounds }, (_, t) => [t, 1]),
    );
    const liked = ratings.filter(({ rating }) => rating === 1).length / rounds;
    // sigmoid(3 (0.7 - 0.4)) = 0.711; the standard error is 0.007.
    expect(Math.abs(liked - 1 / (1 + Math.exp(-0.9)))).toBeLessThan(0.025);
  });

  it("teach a router more than nothing, and change neither key nor result of other runs", async () => {
    const embed = { encoder: HASH, texts: { of: "data", data: "own" } };
    const vectors = await KINDS.embed!.run(embed, await contextWith({ own: OWN }));
    const context = await contextWith({ own: OWN }, { x: vectors });
    const specOf = (policy: RunSpec["policy"]): RunSpec => ({
      draw: { data: "own", offline: 5, seed: 1, run: 0 },
      told: { models: { weighting: "perf", tau: 3, lambda: 0.05, temperature: 1 } },
      vectors: ["x"],
      policy,
      stream: { rounds: 600, stream: "uniform" },
      voteScale: 10,
      lambda: 0,
      price: 0.05,
    });
    const regretOf = async (policy: RunSpec["policy"]) => {
      const { value } = await KINDS.run!.run(specOf(policy), context);
      return (value as RunValue).regret.at(-1)!;
    };
    const untold = { kind: "metallm", options: { prior: 0, lambda: 2 } };
    const random = await regretOf({ kind: "random", options: {} });
    expect(await regretOf({ ...untold, feedback: "likes" })).toBeLessThan(0.8 * random);
    const code = (policy: RunSpec["policy"]) => KINDS.run!.code(specOf(policy)).map(String);
    expect(code(untold).join()).not.toContain("likes");
    expect(code({ ...untold, feedback: "likes" }).join()).toContain("jobs/likes.ts");
  });
});
