import { describe, expect, it } from "vitest";
import type { Standing } from "../../api/stats.ts";
import { ALL_MODELS, noCounts, type Tally } from "../../store/tally.ts";
import type { Price } from "../providers/upstream/usage.ts";
import { simulate } from "./conversations.fixture.ts";
import { spendOf, sumsOf } from "./spend.ts";
import { mayBeBest } from "./standings.ts";

const standing = (model: string, value: number, best: number | null): Standing => ({
  model,
  value,
  best,
  sd: null,
  lo: null,
  hi: null,
});
const overall = [
  standing("expensive", 0.3, 0.4),
  standing("fair", 0.2, 0.5),
  standing("cheap", 0, 0.07),
  standing("poor", -0.5, 0.03),
];
const COSTS = { expensive: 5, fair: 1.5, cheap: 0.5, poor: 0.25 };
const prices = new Map(Object.keys(COSTS).map((name) => [name, { input: 1, output: 1 }]));
const row = (model: string, counts: object, bucket = 0): Tally => ({
  router: "auto",
  bucket,
  model,
  counts: { ...noCounts(), ...counts },
});
/** Ten requests that cost two dollars. Each model is known exactly. */
const tallies = [
  row(ALL_MODELS, { shown: 10, answers: 20, cost: 2, priced: 10 }),
  ...Object.entries(COSTS).map(([model, always_cost]) =>
    row(model, { always_cost, priced: 10, cost: 0.5 }),
  ),
];

describe("spend", () => {
  it("compares with each model alone", () => {
    const { always_best, always_cheapest, total, by_model } = spendOf(tallies, prices, overall);
    expect(always_best).toMatchObject({ model: "expensive", cost: 5, savings: 3, lo: 3, hi: 3 });
    expect(always_cheapest).toMatchObject({ model: "poor", cost: 0.25, savings: -1.75 });
    expect([total, by_model]).toEqual([2, { expensive: 0.5, fair: 0.5, cheap: 0.5, poor: 0.5 }]);
  });

  it("saves exactly nothing if one model answered everything, whatever the rounding errors of the sums", () => {
    const log = [
      row(ALL_MODELS, { shown: 2, answers: 2, priced: 2, cost: 0.1 + 0.2 }),
      row("fair", { shown: 2, answers: 2, priced: 2, cost: 0.3, always_cost: 0.3 }),
    ];
    const { always } = spendOf(log, prices, overall);
    expect(always).toMatchObject([{ model: "fair", savings: 0, lo: 0, hi: 0 }]);
  });

  it("counts second answers of duels and answers for a judge as learning, and random choices and fallbacks as serving", () => {
    // By hand: six single answers of a dollar, two of them random choices, and four duels between "one" and "two".
    // A judge had "two" answer once more.
    const log = [
      row(ALL_MODELS, { shown: 10, duels: 4, answers: 15, cost: 10 + 1.5 }),
      row("one", { shown: 10, duels: 4, answers: 10, cost: 10 }),
      row("two", { shown: 4, duels: 4, answers: 5, for_judge: 1, cost: 1.5 }),
    ];
    const { learning, total } = spendOf(log, new Map(), []);
    // Two answers of "one", half of the four duels of "two" and its answer for the judge.
    expect([learning, total]).toEqual([2 * 1 + 3 * 0.3, 11.5]);
    // "one" was chosen for three requests and failed, and "two" answered them instead.
    const fallbacks = [
      row(ALL_MODELS, { shown: 3, answers: 3, cost: 3 }),
      row("one", { shown: 3, fallbacks: 3 }),
      row("two", { answers: 3, cost: 3 }),
    ];
    expect(spendOf(fallbacks, new Map(), []).learning).toBe(0);
    // Without a judge it is half of the answers in duels, and never more than everything.
    const duels = [
      row(ALL_MODELS, { shown: 106, duels: 4, answers: 110, cost: 11 }),
      row("dear", { shown: 10, duels: 4, answers: 10, cost: 10 }),
      row("cheap", { shown: 100, duels: 4, answers: 100, cost: 1 }),
      row("unused", {}),
    ];
    expect(spendOf(duels, new Map(), []).learning).toBeCloseTo(2.02, 12);
    const dropped = row(ALL_MODELS, { shown: 106, duels: 4, answers: 110, cost: 1 });
    expect(spendOf([dropped, ...duels.slice(1)], new Map(), []).learning).toBe(1);
  });

  it("leaves calls that failed out of the mean cost of an answer", () => {
    // Two duels between "one" and "two". "one" was paid 8 dollars for two calls that failed.
    const log = [
      row(ALL_MODELS, { shown: 2, duels: 2, answers: 6, failures: 2, cost: 14, failed_cost: 8 }),
      row("one", { shown: 2, duels: 2, answers: 4, failures: 2, cost: 10, failed_cost: 8 }),
      row("two", { shown: 2, duels: 2, answers: 2, cost: 4 }),
    ];
    expect(spendOf(log, new Map(), []).learning).toBe(1 + 2);
  });

  it("has a range for the savings against models that may be the best", () => {
    const { always_best } = spendOf(tallies, prices, overall);
    expect(always_best).toMatchObject({
      among: ["fair", "expensive", "cheap"],
      among_lo: -1.5,
      among_hi: 3,
    });
  });

  it("leaves out models without a price, and has no alternative if the leader has none", () => {
    const some = new Map([...prices].filter(([model]) => model !== "cheap"));
    expect(spendOf(tallies, some, overall).always_best).toMatchObject({ among_lo: -0.5 });
    expect(spendOf(tallies, new Map(), overall).always_best).toBeNull();
    expect(spendOf(tallies, prices, []).always_best).toBeNull();
  });

  it("compares nothing that an older version has logged", () => {
    const old = row(ALL_MODELS, { shown: 5, answers: 5, cost: 100 }, 300_000);
    const spend = spendOf([...tallies, old], prices, overall);
    expect(spend).toMatchObject({ total: 102, compared: 2 });
    expect(spend.always_best).toMatchObject({ savings: 3 });
    expect(spendOf([old], prices, overall)).toMatchObject({ always: [], always_best: null });
  });

  it("leaves out a model that was added within the window, until the window has only steps with it", () => {
    const before = [
      row(ALL_MODELS, { shown: 10, cost: 2, priced: 10 }),
      row("fair", { always_cost: 1.5, priced: 10, cost: 2 }),
    ];
    const after = [
      row(ALL_MODELS, { shown: 1, cost: 1, priced: 1 }, 300_000),
      row("fair", { always_cost: 0.15, priced: 1, cost: 1 }, 300_000),
      row("expensive", { always_cost: 0.5 }, 300_000),
    ];
    const names = (list: readonly Tally[], known = prices) =>
      spendOf(list, known, overall).always.map(({ model }) => model);
    expect(names(before)).toEqual(["fair"]);
    const spend = spendOf([...before, ...after], prices, overall);
    expect(spend.always).toEqual([expect.objectContaining({ model: "fair", cost: 1.65 })]);
    // The leaderboard's first model is the new one.
    expect(spend).toMatchObject({ always_best: null, always_cheapest: { model: "fair" } });
    expect(spendOf(after, prices, overall).always_best).toMatchObject({ cost: 0.5, savings: -0.5 });
    // Always using a model that is free costs nothing, whenever it was added.
    const free = new Map([...prices, ["free", { input: 0, output: 0 }]]);
    expect(names(before, free)).toEqual(["fair", "free"]);
    // The provider charged nothing for the model's own answers.
    const uncharged = [before[0]!, row("cheap", { priced: 10 })];
    expect(names(uncharged)).toEqual(["cheap"]);
  });

  it("has a wider interval if the model gave few answers or its common errors are large", () => {
    const width = (counts: object) => {
      const list = [row(ALL_MODELS, { cost: 2, priced: 10 }), row("fair", counts)];
      const [fair] = spendOf(list, new Map([["fair", { input: 1, output: 1 }]]), []).always;
      return fair!.hi - fair!.lo;
    };
    const sure = { always_cost: 3, priced: 8, expected: 2, residual_sq: 0.01 };
    expect(width({ ...sure, priced: 2, expected: 0.5 })).toBeGreaterThan(width(sure));
    expect(width({ ...sure, always_doubt: 1 })).toBeGreaterThan(width(sure));
    expect(width({ ...sure, priced: 10 })).toBe(0);
  });
});

describe("always one model that fails", () => {
  const all = row(ALL_MODELS, { cost: 10, priced: 10 });
  const priced = new Map([["fair", { input: 1, output: 1 }]]);
  const always = (counts: object) => spendOf([all, row("fair", counts)], priced, []).always[0]!;

  it("pays for calls that failed as it did per dollar of answers", () => {
    // Five answers for 10 dollars, and 4 dollars for calls that failed: 20 dollars become 28.
    const own = { always_cost: 20, priced: 5, expected: 10, cost: 14, failed_cost: 4 };
    expect(always(own)).toMatchObject({ cost: 28, savings: 18 });
    expect(always({ ...own, cost: 10, failed_cost: 0 }).cost).toBe(20);
    const { lo, hi } = always(own);
    const free = always({ ...own, cost: 10, failed_cost: 0 });
    expect(hi - lo).toBeGreaterThan(1.4 * (free.hi - free.lo));
  });

  it("is expected to answer the next call if all of its calls failed", () => {
    // Its calls failed for 4 dollars before an answer of 2.
    expect(always({ always_cost: 20, cost: 4, failed_cost: 4 }).cost).toBe(60);
  });

  it("costs nothing if its answers cost nothing", () => {
    const own = { priced: 5, cost: 4, failed_cost: 4 };
    expect(always(own)).toMatchObject({ cost: 0, lo: -10, hi: -10 });
  });
});

describe("savings in single requests", () => {
  const single = { conversations: 60, requests: 1, caches: false, duels: 0.5, switching: 0.2 };
  const run = (traffic: object) =>
    Array.from({ length: 40 }, (_, seed) => simulate({ ...single, ...traffic, seed }));

  it("lie inside their intervals if prompts are longer than their text shows", () => {
    const inside = run({ unseen: true }).flatMap(({ spent, truth, always }) =>
      always.filter(({ model, lo, hi }) => {
        const saved = truth.get(model)! - spent;
        return saved >= lo && saved <= hi;
      }),
    );
    expect(inside.length).toBeGreaterThanOrEqual(0.85 * 120);
  });

  it("have no cost of cache writes if the upstream writes no cache", () => {
    const ratios = run({ conversations: 240 }).map(
      ({ truth, always }) =>
        always.find(({ model }) => model === "large")!.cost / truth.get("large")!,
    );
    expect(Math.abs(ratios.reduce((sum, ratio) => sum + ratio / 40, 0) - 1)).toBeLessThan(0.03);
  });
});

describe("savings in conversations of twelve requests", () => {
  const common = { requests: 12, duels: 0, switching: 0.05 };

  it.each([true, false])("lie inside their intervals in most worlds, caches: %s", (caches) => {
    let inside = 0;
    for (let seed = 0; seed < 30; seed++) {
      const { spent, truth, always } = simulate({ ...common, seed, conversations: 30, caches });
      expect(always).toHaveLength(3);
      for (const { model, lo, hi, cost, savings } of always) {
        const saved = truth.get(model)! - spent;
        inside += Number(saved >= lo && saved <= hi);
        expect(savings).toBeCloseTo(cost - spent, 9);
        expect(hi - lo, model).toBeLessThan(cost);
      }
    }
    // The three intervals of a world are not independent, so the count of 30 worlds varies.
    expect(inside).toBeGreaterThanOrEqual(0.85 * 90);
  });

  /** Before, "always one model" was the window's tokens at its list price, without caches. */
  const atListPrice = ({ tallies, spent }: ReturnType<typeof simulate>, price: Price) => {
    const { input_tokens, output_tokens } = sumsOf(tallies).get(ALL_MODELS)!;
    return (input_tokens * price.input + output_tokens * price.output) / 1e6 - spent;
  };

  it.each([
    // Reported 14.98 dollars where 1.07 were saved, and 9.50 where 0.43 were lost.
    {
      model: "large",
      price: { input: 5, output: 25 },
      traffic: { seed: 2, conversations: 26, system: 26_000, switching: 0.02 },
      share: 0.7,
      before: 14.98,
      saved: 1.07,
    },
    {
      model: "middle",
      price: { input: 2, output: 8 },
      traffic: { seed: 1, conversations: 44, system: 35_000, switching: 0.05 },
      share: 0.85,
      before: 9.5,
      saved: -0.43,
    },
  ])("are not $before dollars where $saved were saved", (one) => {
    const { model, price, traffic, share, before, saved } = one;
    const favourite = { model, share };
    const run = simulate({ requests: 12, caches: true, duels: 0, favourite, ...traffic });
    const truth = run.truth.get(model)! - run.spent;
    expect(Math.abs(atListPrice(run, price) - before)).toBeLessThan(0.5);
    expect(Math.abs(truth - saved)).toBeLessThan(0.15);
    const { lo, hi, savings } = run.always.find((alternative) => alternative.model === model)!;
    expect(Math.abs(savings - truth)).toBeLessThan(0.3);
    expect(lo).toBeLessThanOrEqual(truth);
    expect(hi).toBeGreaterThanOrEqual(truth);
  });

  it("are a loss if changing models costs more than the cheaper model saves", () => {
    // Each change reads the whole conversation again, which "always middle" reads from its cache.
    const often = { ...common, seed: 1, conversations: 30, caches: true, switching: 1 };
    const { spent, truth, always } = simulate(often);
    const middle = always.find(({ model }) => model === "middle")!;
    expect(truth.get("middle")! - spent).toBeLessThan(0);
    expect(middle.hi).toBeLessThan(0);
  });
});

it("names the most probable best models, or the first one if probabilities are unknown", () => {
  expect(mayBeBest(overall)).toEqual(["fair", "expensive", "cheap"]);
  const mute = overall.map((one) => ({ ...one, best: null }));
  expect(mayBeBest(mute)).toEqual(["expensive"]);
  expect(mayBeBest([])).toEqual([]);
});
