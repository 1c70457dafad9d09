import { expect, it } from "vitest";
import { Random } from "../../core/random/random.ts";
import { answered, routed, vote } from "../../store/events.fixture.ts";
import { StoreUnavailable } from "../../store/store-error.ts";
import { shadowId } from "../feedback/shadow-id.ts";
import { ShadowResults } from "./shadow.ts";

/** A log with one comparison for each difference of the costs of its two answers. */
function logOf(differences: readonly number[]) {
  const events = differences.map((_, n) => {
    return { ...vote(n, { outcome: "a" }, { decision: shadowId(`d${n}`) }), position: n + 1 };
  });
  return {
    logEvents: async (_: string, after: number) =>
      events.filter(({ position }) => position > after),
    decision: async (id: string) => {
      const n = Number(id.slice(1));
      const answers = [0, 1].map((slot) => answered(n, slot, { cost: slot * differences[n]! }));
      return { decision: routed(n), answers, votes: [], x: undefined };
    },
  };
}

it("has intervals that contain the mean in about 95% of the worlds, also of few comparisons", async () => {
  const random = Random.seeded(1);
  for (const count of [2, 3, 5, 20]) {
    let inside = 0;
    for (let world = 0; world < 400; world++) {
      const differences = Array.from({ length: count }, () => 3 + random.normal());
      const { lo, hi } = (await new ShadowResults(logOf(differences)).of("auto"))!.cost!;
      inside += Number(lo <= 3 && hi >= 3);
    }
    expect([count, inside / 400 > 0.92, inside / 400 < 0.98]).toEqual([count, true, true]);
  }
});

it("reads a comparison again if its decision could not be read", async () => {
  const log = logOf([1, 2, 3]);
  let failures = 1;
  const results = new ShadowResults({
    ...log,
    decision: async (id) => {
      if (id === "d1" && failures-- > 0) throw new StoreUnavailable("it is down");
      return log.decision(id);
    },
  });
  await expect(results.of("auto")).rejects.toThrow(StoreUnavailable);
  expect(await results.of("auto")).toMatchObject({ comparisons: 3, cost: { mean: 2 } });
});
