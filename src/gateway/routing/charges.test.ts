import { describe, expect, it } from "vitest";
import { Random } from "../../core/random/random.ts";
import { ALL_MODELS, tally } from "../../store/tally.ts";
import { historyOf } from "../dialects/chat/history.ts";
import { spendOf } from "../insight/spend.ts";
import { USUAL_CACHE } from "../providers/answer-price.ts";
import { costOf, NO_USAGE, type Price, type Usage } from "../providers/upstream/usage.ts";
import { paperPrice, paperSandbox } from "../sandbox/sandbox.fixture.ts";
import { AnswerPrices, type PriceQuote } from "./answer-prices.ts";

interface Listed {
  readonly name: string;
  readonly provider: string;
  readonly price: Price;
}

interface Request {
  readonly model: string;
  readonly w: Float64Array;
  readonly usage: Usage;
  /** Estimated tokens of the prompt. Default: those of the usage. */
  readonly prompt?: number;
}

/** Spending and its comparison after some requests without a conversation before them. */
function spendAfter(models: readonly Listed[], requests: readonly Request[]) {
  const prices = new AnswerPrices();
  const served = models.map(({ name, provider, price }) => ({
    spec: {
      name,
      provider,
      price,
      cache: USUAL_CACHE,
      upstreamName: name,
      capabilities: {},
      retries: 0,
    },
    listCost: (usage: Usage) => costOf({ ...usage, cost: undefined }, price)!,
  }));
  const events = requests.map(({ model, w, usage, prompt = usage.promptTokens }, i) => {
    const messages = [{ role: "user", content: `question ${i}` }];
    const conversation = {
      prefixes: historyOf(messages, false).prefixes,
      w,
      needs: { promptTokens: prompt, answerTokens: undefined },
      isRunning: false,
      session: undefined,
      at: 1000 * i,
    };
    const quotes = new Map<string, PriceQuote>(
      served.map((one) => [one.spec.name, prices.quote(one, conversation)!]),
    );
    const { price } = models.find(({ name }) => name === model)!;
    const cost = costOf(usage, price)!;
    const settled = prices.settle(conversation, served, quotes, [
      { model, usage, cost, isWhole: true },
    ]);
    const { promptTokens: inputTokens, completionTokens: outputTokens } = usage;
    const common = { router: "auto", at: 0, decision: `${i}`, slot: 0, latencyMs: 1 } as const;
    const tokens = { inputTokens, outputTokens, cost, model, ...settled };
    return { ...common, ...tokens, kind: "answered", status: "ok" } as const;
  });
  const tallies = tally(events);
  const list = new Map(models.map(({ name, price }) => [name, price]));
  const { always, compared } = spendOf(tallies, list, []);
  const { input_tokens, output_tokens } = tallies.find(({ model }) => model === ALL_MODELS)!.counts;
  return {
    spent: compared,
    always: (name: string) => always.find(({ model }) => model === name)!,
    /** The alternative before: all tokens at the list price. */
    before: (name: string) => {
      const { input, output } = list.get(name)!;
      return (input_tokens * input + output_tokens * output) / 1e6;
    },
  };
}

const W = Float64Array.of(1);
const usage = (cost?: number): Usage => {
  return { ...NO_USAGE, promptTokens: 1000, completionTokens: 100, cost };
};

describe("costs that an upstream reports", () => {
  const price = { input: 1, output: 5 };
  const models = [
    { name: "used", provider: "reseller", price },
    { name: "unused", provider: "reseller", price: { input: 2, output: 10 } },
    { name: "direct", provider: "maker", price },
    { name: "other", provider: "maker", price: { input: 2, output: 10 } },
  ];
  /** 0.0015 dollars at the list price. The reseller charges a third of it. */
  const requests = Array.from({ length: 40 }, () => ({
    model: "used",
    w: W,
    usage: usage(0.0005),
  }));

  it("are used for spending, for the same model and for others of the upstream", () => {
    const { spent, always } = spendAfter(models, requests);
    expect(spent).toBeCloseTo(0.02, 12);
    expect(always("used").savings).toBeCloseTo(0, 12);
    // Nothing was known at the first request, and little at the next ones.
    expect(Math.abs(always("unused").cost / 0.04 - 1)).toBeLessThan(0.2);
    // Whether the upstream charges a third for this model, too, is uncertain.
    expect(always("unused").hi - always("unused").lo).toBeGreaterThan(0.01);
  });

  it("say nothing about models of other upstreams, which cost their list price", () => {
    const unreported = requests.map((request) => ({ ...request, usage: usage() }));
    const [reported, listed] = [requests, unreported].map((list) => spendAfter(models, list));
    for (const name of ["direct", "other"]) {
      expect(reported!.always(name).cost).toBe(listed!.always(name).cost);
    }
    const own = unreported.map((request) => ({ ...request, model: "direct" }));
    const { spent, always } = spendAfter(models, [...requests, ...own]);
    expect(spent).toBeCloseTo(0.08, 12);
    expect(Math.abs(always("direct").cost / 0.12 - 1)).toBeLessThan(0.1);
    expect(Math.abs(always("used").cost / 0.04 - 1)).toBeLessThan(0.1);
  });
});

it("an upstream that charges nothing for its first answers and reports usage without a prompt leaves all numbers finite", () => {
  const price = { input: 1, output: 5 };
  const models = [
    { name: "free", provider: "reseller", price },
    { name: "other", provider: "reseller", price },
  ];
  const requestOf = (model: string, given: Usage) => ({ model, w: W, usage: given, prompt: 1000 });
  const silent = { ...usage(), promptTokens: 0 };
  const first = [usage(0), usage(0), silent].map((given) => requestOf("free", given));
  const late = Array.from({ length: 10 }, () => requestOf("other", usage(0.0015)));
  for (const requests of [first, first.toReversed(), [...first, ...late]]) {
    const { always } = spendAfter(models, requests);
    for (const { cost, lo, hi } of [always("free"), always("other")]) {
      expect([cost, lo, hi].every(Number.isFinite)).toBe(true);
    }
  }
});

describe("with an upstream whose costs depend on the category only", () => {
  it("no savings are reported where three times as much was spent", () => {
    const { profile, names } = paperSandbox;
    const models = names.map((name) => {
      return { name, provider: "sandbox", price: paperPrice(name) };
    });
    const M = profile.categories.length;
    // Prompts that are longer than the project's questions, at the same cost.
    const requests = Array.from({ length: 140 }, (_, i) => {
      const cost = profile.cost("gpt-3.5", profile.categories[i % M]!);
      const w = Float64Array.from({ length: M }, (_, m) => (m === i % M ? 0.9 : 0.1 / (M - 1)));
      const tokens = { promptTokens: 690, completionTokens: 100 };
      return { model: "gpt-3.5", w, usage: { ...NO_USAGE, ...tokens, cost } };
    });
    const truth = requests.reduce(
      (sum, _, i) => sum + profile.cost("wizardlm-13b", profile.categories[i % M]!),
      0,
    );
    const { spent, always, before } = spendAfter(models, requests);
    // Reported: 64% less than always wizardlm, although 3.5 times as much was spent.
    expect(1 - spent / before("wizardlm-13b")).toBeCloseTo(0.64, 1);
    expect(spent / truth).toBeGreaterThan(3.2);
    expect(spent / truth).toBeLessThan(3.6);
    const { cost, lo, hi } = always("wizardlm-13b");
    expect(cost / truth).toBeCloseTo(1, 0);
    expect(hi).toBeLessThan(0);
    expect(truth - spent).toBeGreaterThan(lo);
    expect(truth - spent).toBeLessThan(hi);
  });

  it("the interval of every model contains its true cost and is not absurdly wide", () => {
    const { profile, names } = paperSandbox;
    const models = names.map((name) => {
      return { name, provider: "sandbox", price: paperPrice(name) };
    });
    const random = Random.seeded(3);
    const M = profile.categories.length;
    const asked = Array.from({ length: 1000 }, () => random.integer(M));
    // One model has most requests, as after some learning.
    const requests = asked.map((category) => {
      const model = random.uniform() < 0.6 ? "yi-34b" : names[random.integer(names.length)]!;
      const spread = 0.8 + 0.4 * random.uniform();
      const cost = profile.cost(model, profile.categories[category]!) * spread;
      const w = softShares(M, category, random);
      const tokens = {
        promptTokens: Math.ceil(10 * Math.exp(3 * random.uniform())),
        completionTokens: Math.ceil(10 * Math.exp(2 * random.uniform())),
      };
      return { model, w, usage: { ...NO_USAGE, ...tokens, cost } };
    });
    const { spent, always } = spendAfter(models, requests);
    for (const name of names) {
      const truth = asked.reduce((sum, m) => sum + profile.cost(name, profile.categories[m]!), 0);
      const { lo, hi } = always(name);
      expect([name, truth - spent > lo, truth - spent < hi]).toEqual([name, true, true]);
      expect([name, hi + spent < 5 * truth]).toEqual([name, true]);
    }
  });
});

/** Shares of M categories in which the own category has the largest share on average, as an encoder gives them. */
function softShares(M: number, own: number, random: Random): Float64Array {
  const logits = Array.from({ length: M }, (_, m) => 1.5 * random.normal() + (m === own ? 2 : 0));
  const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
  return Float64Array.from(logits, (logit) => Math.exp(logit) / total);
}
