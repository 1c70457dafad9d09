import { describe, expect, it } from "vitest";
import { Random } from "../../core/random/random.ts";
import type { Dataset, Query } from "../data/dataset.ts";
import { splitOf } from "../data/groups.ts";
import type { Environment } from "./environment.ts";
import { SETTINGS, type Settings } from "./settings.ts";
import { streamOf } from "./stream.ts";
import { SCORED, TABLED, world } from "./world.fixture.ts";

function idsOf(environment: Environment, rounds: number): number[] {
  return Array.from({ length: rounds }, (_, t) => Number(environment.at(t).query.id));
}

function online(dataset: Dataset, offline: number): number {
  return splitOf(dataset, offline).reduce((sum, one) => sum + one.queries - one.offline, 0);
}

describe("the stream", () => {
  it("has every online query once before any twice, and none that is offline", () => {
    expect(online(TABLED, 2)).toBe(6);
    const ids = idsOf(world(TABLED, { offline: 2, rounds: 15 }), 15);
    const once = new Set(ids.slice(0, 6));
    expect(once.size).toBe(6);
    expect(new Set(ids.slice(6, 12))).toEqual(once);
    expect(ids.slice(6, 12)).not.toEqual(ids.slice(0, 6));
    for (const id of ids.slice(12)) expect(once).toContain(id);
  });

  it("leaves half of a small category online and at least one query offline", () => {
    expect(online(TABLED, 100)).toBe(3 + 2);
    const split = splitOf({ ...TABLED, queries: TABLED.queries.slice(0, 7) }, 5);
    expect(split).toEqual([
      { category: "x", queries: 6, offline: 3 },
      { category: "y", queries: 1, offline: 1 },
    ]);
  });

  it("uniform draws all categories equally often, whatever their size", () => {
    const rounds = 4000;
    const ids = idsOf(world(TABLED, { stream: "uniform", offline: 1, rounds }), rounds);
    // sd of the share is 0.008.
    expect(Math.abs(ids.filter((id) => id < 6).length / rounds - 0.5)).toBeLessThan(0.03);
  });

  it("in sections has the given number of each category and no query twice", () => {
    const stream = [{ x: 2 }, { x: 1, y: 2 }];
    const ids = idsOf(world(TABLED, { stream, offline: 1, rounds: 5 }), 5);
    const kinds = ids.map((id) => (id < 6 ? "x" : "y"));
    expect(kinds.slice(0, 2)).toEqual(["x", "x"]);
    expect(kinds.slice(2).sort()).toEqual(["x", "y", "y"]);
    expect(new Set(ids).size).toBe(5);
    expect(() => world(TABLED, { stream: [{ y: 4 }], offline: 1, rounds: 4 })).toThrow(
      "the stream asks for 4 more queries of y, which has 3",
    );
  });

  it.each(["shuffled", "uniform"] as const)(
    "%s: a longer run begins like a shorter one",
    (stream) => {
      const of = (rounds: number) =>
        streamOf(TABLED, { ...SETTINGS, stream, rounds }, Random.seeded(3));
      expect(of(40).slice(0, 25)).toEqual(of(25));
      const { at } = world(TABLED, { stream, rounds: 25 }, Random.seeded(3));
      expect(of(25)).toEqual(Array.from({ length: 25 }, (_, t) => Number(at(t).query.id)));
    },
  );

  it("can have more rounds than a function can have arguments", () => {
    const queries = Array.from({ length: 150_000 }, (_, i) => ({
      ...TABLED.queries[0]!,
      id: `${i}`,
    }));
    const big = { ...TABLED, categories: ["x"], queries };
    expect(world(big, { rounds: 140_000 }).at(139_999).best).toBe(0.9);
  });
});

it("depends on the generator only, and not on what was drawn from it before", () => {
  const seeded = Random.seeded(5);
  const ids = idsOf(world(TABLED, {}, seeded), 20);
  seeded.normal();
  expect(idsOf(world(TABLED, {}, seeded), 20)).toEqual(ids);
  expect(idsOf(world(TABLED, {}, Random.seeded(6)), 20)).not.toEqual(ids);
});

it("a setting changes only what it is about", () => {
  const ids = (settings: Partial<Settings>) =>
    idsOf(world(TABLED, { rounds: 12, ...settings }), 12);
  expect(ids({ truthSd: 0.1, told: { kind: "permuted" }, lambda: 1 })).toEqual(ids({}));
});

describe("utilities", () => {
  it("are the query's own scores, or else those of the category", () => {
    const tabled = world(TABLED);
    const scored = world(SCORED, { told: { kind: "offline" } });
    for (let t = 0; t < 12; t++) {
      const { query, utilities, best } = tabled.at(t);
      expect([...utilities]).toEqual(query.category === 0 ? [0.9, 0.5, 0] : [0.1, 0.5, 1]);
      expect(best).toBe(Math.max(...utilities));
      const own = scored.at(t);
      expect(own.utilities).toEqual(own.query.scores);
      expect(own.costs).toEqual(own.query.costs);
    }
  });

  it("are score minus lambda times cost, in the told scores too", () => {
    const { pool, at } = world(TABLED, { lambda: 0.1 });
    const expected = [
      [0.5, -0.3],
      [0.4, 0.3],
      [0, 0.7],
    ];
    expected.forEach((row, k) => {
      row.forEach((value, m) => {
        expect(pool.told![k]![m]).toBeCloseTo(value, 12);
      });
    });
    const { query, utilities } = at(0);
    expect(utilities[0]).toBeCloseTo(expected[0]![query.category]!, 12);
  });

  it("can be looked up by the query's vector in hindsight, which also knows the best fixed model", () => {
    const { hindsight, at } = world(TABLED, { rounds: 40 });
    const totals = [0, 0, 0];
    for (let t = 0; t < 40; t++) {
      const { x, utilities } = at(t);
      expect(hindsight.utilities(x)).toBe(utilities);
      totals.forEach((_, k) => {
        totals[k]! += utilities[k]!;
      });
    }
    expect(hindsight.bestFixed).toBe(totals.indexOf(Math.max(...totals)));
    expect(hindsight.stream.reduce((sum, { count }) => sum + count, 0)).toBe(40);
    for (const { x, utilities, count } of hindsight.stream) {
      expect(hindsight.utilities(x)).toBe(utilities);
      const comes = Array.from({ length: 40 }, (_, t) => at(t)).filter((own) => own.x === x);
      expect(comes.length).toBe(count);
    }
  });
});

describe("told scores", () => {
  const told = (settings: Partial<Settings>, dataset = TABLED) =>
    world(dataset, settings).pool.told?.map((row) => [...row]);
  const given = TABLED.scores!.perf.map((row) => [...row]);

  it("scores: the given ones, even if the true scores differ", () => {
    expect(told({})).toEqual(given);
    expect(told({ truthSd: 0.5 })).toEqual(given);
    expect(world(TABLED, { truthSd: 0.5 }).at(0).utilities[0]).not.toBe(0.9);
  });

  it("none: nothing, and no labels, which would reveal the scores", () => {
    const { pool } = world(TABLED, { told: { kind: "none" } });
    expect(pool.told).toBeUndefined();
    expect(pool.labels).toBeUndefined();
  });

  it("noisy: every told score changes, the true scores do not", () => {
    const settings: Partial<Settings> = { told: { kind: "noisy", sd: 0.1 } };
    const noisy = told(settings)!;
    noisy.flat().forEach((score, i) => {
      const off = Math.abs(score - given.flat()[i]!);
      expect(off).toBeGreaterThan(0);
      expect(off).toBeLessThan(0.5);
    });
    expect(world(TABLED, settings).at(0).best).toBe(world(TABLED).at(0).best);
  });

  it("permuted: each model has the scores of another", () => {
    const rows = told({ told: { kind: "permuted" } })!;
    rows.forEach((row, k) => {
      expect(row).not.toEqual(given[k]);
    });
    expect(rows.toSorted()).toEqual(given.toSorted());
  });

  it("offline: means over queries that are not streamed, grouped by their best model", () => {
    const environment = world(SCORED, { told: { kind: "offline" }, offline: 2, rounds: 30 });
    const { pool } = environment;
    expect(pool.categories).toEqual(["a", "c"]);
    expect(pool.told![0]).toEqual(Float64Array.of(1, 0));
    const online = new Set(idsOf(environment, 30));
    const offline = SCORED.queries.filter(({ id }) => !online.has(Number(id))).slice(-2);
    const mean = offline.reduce((sum, { scores }) => sum + scores![2]! / 2, 0);
    expect(pool.told![2]![1]).toBeCloseTo(mean, 12);
    const middle = offline.reduce((sum, { id }) => sum + Number(id) / 2, 0);
    expect(pool.centroids[1]).toEqual(Float64Array.of(1, middle));
    expect(pool.costs![0]![1]).toBeCloseTo(middle, 12);
  });
});

describe("labels, each model's mean offline query", () => {
  const labels = (settings: Partial<Settings>, dataset = TABLED, seed = 1) =>
    world(dataset, settings, Random.seeded(seed)).pool.labels!.map((row) => [...row]);

  it("are the means of the queries on which it is best", () => {
    const { pool } = world(TABLED);
    expect(pool.labels![0]).toEqual(pool.centroids[0]);
    expect(pool.labels![2]).toEqual(pool.centroids[1]);
  });

  it.each([
    ["told by category", TABLED],
    ["told from the queries' own scores", SCORED],
  ])("are permuted as the rows are: %s", (_, dataset) => {
    const { pool } = world(dataset, { told: { kind: "permuted" } });
    const own = world(dataset, { told: { kind: dataset.scores ? "scores" : "offline" } }).pool;
    const from = pool.told!.map((row) => own.told!.findIndex((other) => `${other}` === `${row}`));
    expect(from.toSorted()).toEqual([0, 1, 2]);
    expect(pool.labels).toEqual(from.map((k) => own.labels![k]));
  });

  it.each([
    ["told by category", TABLED],
    ["told from the queries' own scores", { ...SCORED, queries: alike(SCORED.queries) }],
  ])("follow the noise of what is told: %s", (_, dataset) => {
    let moved = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const settings: Partial<Settings> = { told: { kind: "noisy", sd: 1 } };
      const { pool } = world(dataset, settings, Random.seeded(seed));
      const best = pool.centroids.map((_, m) => {
        const column = pool.told!.map((row) => row[m]!);
        return column.indexOf(Math.max(...column));
      });
      const plain = labels(
        { told: { kind: dataset.scores ? "scores" : "offline" } },
        dataset,
        seed,
      );
      if (`${plain}` !== `${pool.labels}`) moved++;
      if (best[0] === best[1]) continue;
      best.forEach((k, m) => {
        expect(pool.labels![k]![1]).toBeCloseTo(pool.centroids[m]![1]!, 12);
      });
    }
    expect(moved).toBeGreaterThan(10);
  });

  it("follow the csv if the true scores differ", () => {
    for (let seed = 1; seed <= 20; seed++) {
      expect(labels({ truthSd: 1 }, TABLED, seed)).toEqual(labels({}, TABLED, seed));
    }
  });
});

/** All queries of a best model have the same scores, so that each equals the mean of its category. */
function alike(queries: readonly Query[]): Query[] {
  return queries.map((query, i) => ({
    ...query,
    scores: i < 6 ? Float64Array.of(1, 0.5, 0) : Float64Array.of(0, 0.5, 0.8),
  }));
}
