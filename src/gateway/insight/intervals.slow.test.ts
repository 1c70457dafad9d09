import { beforeAll, describe, expect, it } from "vitest";
import { type Checked, playWorld, reliability, shareInside, type World } from "./worlds.fixture.ts";

const VOTES = 200;
const PRIOR: World = { kind: "prior", models: 4, voteScale: 2, ties: 1, told: "none" };
const INTERVALS = ["cells", "differences", "overall"] as const;

/** `npm run bench -- coverage` plays ten models up to 50,000 votes (docs/decisions/0024-intervals.md). */
describe("the leaderboard after 200 votes that the policy collected", () => {
  let runs: Checked[] = [];
  const play = (world: World, count: number) => () => {
    runs = Array.from({ length: count }, (_, i) => playWorld(world, i, [VOTES])).flat();
  };
  const all = <T>(of: (checked: Checked) => readonly T[]) => runs.flatMap(of);

  describe("in 400 worlds drawn from the prior", () => {
    beforeAll(play(PRIOR, 400));

    it.each(INTERVALS)("has intervals of %s with a coverage of 0.90 to 0.98", (what) => {
      const share = shareInside(all((checked) => checked[what]));
      expect(share).toBeGreaterThanOrEqual(0.9);
      expect(share).toBeLessThanOrEqual(0.98);
    });

    it.each(["best", "wins"] as const)("has reliable probabilities of %s", (what) => {
      for (const { predicted, truth } of reliability(all((checked) => checked[what]))) {
        expect(Math.abs(predicted - truth)).toBeLessThan(0.04);
      }
    });
  });

  describe("with the models and voters of the sandbox", () => {
    beforeAll(play({ ...PRIOR, kind: "sandbox" }, 60));

    // Before 1,000 votes, intervals may be wider than necessary.
    it.each(INTERVALS)("has intervals of %s with a coverage of at least 0.93", (what) => {
      expect(shareInside(all((checked) => checked[what]))).toBeGreaterThanOrEqual(0.93);
    });
  });

  it("covers the truth after 50,000 votes, even if the policy's posteriors favour a wrong vote scale", () => {
    const world: World = { kind: "table", models: 10, voteScale: 3, ties: 0, told: "noisy" };
    for (const seed of [8008, 8011]) {
      const [last] = playWorld(world, seed, [50_000]);
      expect(shareInside(last!.cells)).toBeGreaterThan(0.85);
    }
  });
});
