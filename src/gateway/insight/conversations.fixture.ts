import { Random } from "../../core/random/random.ts";
import { ALL_MODELS, tally } from "../../store/tally.ts";
import { historyOf } from "../dialects/chat/history.ts";
import { USUAL_CACHE } from "../providers/answer-price.ts";
import type { Fallback } from "../providers/attempt.ts";
import { costOf, NO_USAGE, type Price, type Usage } from "../providers/upstream/usage.ts";
import { AnswerPrices, type PriceQuote } from "../routing/answer-prices.ts";
import { spendOf } from "./spend.ts";

/** Prices of the three simulated models, and the tokens that they count per four characters. */
const MODELS = [
  {
    name: "large",
    price: { input: 5, cached_input: 0.5, output: 25, cache_write: 6.25 },
    grain: 1.15,
    host: "reseller",
  },
  {
    name: "middle",
    price: { input: 2, cached_input: 0.2, output: 8 },
    grain: 1,
    host: "reseller",
  },
  {
    name: "small",
    price: { input: 0.4, cached_input: 0.1, output: 1.6 },
    grain: 0.95,
    host: "maker",
  },
] as const;
type Model = (typeof MODELS)[number];
const CATEGORIES = 3;
/** Characters of a real text that one character of a simulated text stands for, so that hashing takes less time. */
const SHORT = 8;
const LETTERS_PER_TOKEN = 4;

/** Length of a real text. */
function lengthOf(messages: readonly { readonly content: string }[]): number {
  return SHORT * messages.reduce((sum, { content }) => sum + content.length, 0);
}

/** Numbers by model and category. */
type ByCategory = ReadonlyMap<string, readonly number[]>;

/** Mean lengths of answers by model and category. Each seed is another world. */
function lengthsOf(random: Random): ByCategory {
  const categories = Array.from(
    { length: CATEGORIES },
    () => 250 * Math.exp(0.5 * random.normal()),
  );
  return new Map(
    MODELS.map(({ name }) => {
      const own = Math.exp(0.35 * random.normal());
      return [name, categories.map((mean) => mean * own * Math.exp(0.25 * random.normal()))];
    }),
  );
}

/**
 * Costs that the reseller reports, per dollar at the list price, by model and category. The maker
 * reports none.
 */
function chargesOf(random: Random): ByCategory {
  const host = Math.exp(0.3 * random.normal());
  const categories = Array.from({ length: CATEGORIES }, () => Math.exp(0.1 * random.normal()));
  return new Map(
    MODELS.filter((model) => model.host === "reseller").map(({ name }) => {
      const own = Math.exp(0.15 * random.normal());
      return [name, categories.map((ratio) => host * ratio * own)];
    }),
  );
}

export interface Traffic {
  readonly seed: number;
  readonly conversations: number;
  readonly requests: number;
  /** Whether the upstreams cache prefixes. */
  readonly caches: boolean;
  /** Probability that a request changes the model. */
  readonly switching: number;
  /** Probability that a request gets two answers. */
  readonly duels: number;
  /** Whether an upstream reports costs that differ from the list price. */
  readonly reports?: boolean;
  /** Mean length of the system prompt in characters. Default: 3000. */
  readonly system?: number;
  /** Standard deviation of the logarithm of the lengths of prompts. Default: 0.4. */
  readonly spread?: number;
  /** Whether upstreams count tokens that the text does not show: about 8 times as many, at random. */
  readonly unseen?: boolean;
  /** Probability that a call fails, by model, and the part of an answer's price that it costs. */
  readonly failing?: Readonly<Record<Model["name"], number>>;
  readonly failureCost?: number;
  /** A model that answers a share of the conversations whatever their category is. */
  readonly favourite?: { readonly model: string; readonly share: number };
}

/** Texts of a user and lengths of answers, which are the same whichever model answers. */
interface Script {
  readonly category: number;
  readonly system: string;
  readonly users: readonly string[];
  /** Milliseconds since the request before. */
  readonly gaps: readonly number[];
  answerLength(model: Model, request: number): number;
  /** Tokens of the prompt per token of its text. */
  promptFactor(model: Model, request: number): number;
  /** Reported cost per dollar at the list price; undefined if the upstream reports none. */
  chargeOf(model: Model): number | undefined;
}

const NO_CHARGES: ByCategory = new Map();

/** Runs conversations through the router's prices, and each of them again with every model alone. */
export function simulate(traffic: Traffic) {
  const random = Random.seeded(traffic.seed);
  const lengths = lengthsOf(random.split("lengths"));
  const charges = traffic.reports ? chargesOf(random.split("charges")) : NO_CHARGES;
  const prices = new AnswerPrices();
  const events: Parameters<typeof tally>[0][number][] = [];
  const truth = new Map(MODELS.map(({ name }) => [name as string, 0]));
  let now = 1.8e12;
  let spent = 0;
  for (let i = 0; i < traffic.conversations; i++) {
    const own = random.split(i);
    const script = scriptOf(own, i, traffic, { lengths, charges });
    for (const model of MODELS) {
      const failures = own.split(`failures of ${model.name}`);
      const alone = play(script, traffic, () => callUntilAnswered([model], traffic, failures));
      truth.set(model.name, truth.get(model.name)! + alone);
    }
    const choice = own.split("choice");
    const failures = own.split("failures");
    let kept = choose(choice, script.category, traffic);
    spent += play(
      script,
      traffic,
      (request) => {
        if (request > 0 && choice.uniform() < traffic.switching)
          kept = choose(choice, script.category, traffic);
        const other = MODELS[(MODELS.indexOf(kept) + 1) % 3]!;
        const asked = choice.uniform() < traffic.duels ? [kept, other] : [kept];
        return callUntilAnswered(asked, traffic, failures, nextModel);
      },
      ({ messages, answers, fallbacks, gap }) => {
        now += gap;
        const settled = pricedOf(prices, messages, script.category, now, answers);
        const common = { router: "auto", at: now, decision: "d", slot: 0 } as const;
        for (const [slot, { model, usage, cost }] of answers.entries()) {
          events.push({
            ...common,
            kind: "answered",
            model: model.name,
            status: "ok",
            inputTokens: usage.promptTokens,
            outputTokens: usage.completionTokens,
            cost,
            latencyMs: 1,
            ...(slot === 0 && { ...settled, fallbacks }),
          });
        }
      },
    );
  }
  const list = new Map<string, Price>(MODELS.map(({ name, price }) => [name, price]));
  const tallies = tally(events);
  const { always } = spendOf(tallies, list, []);
  const all = tallies.filter(({ model }) => model === ALL_MODELS);
  return {
    spent,
    truth,
    always,
    tallies,
    requests: all.reduce((sum, one) => sum + one.counts.answers, 0),
  };
}

interface Message {
  readonly role: string;
  readonly content: string;
}

interface Played {
  readonly messages: readonly Message[];
  readonly gap: number;
  readonly answers: readonly { model: Model; usage: Usage; cost: number }[];
  readonly fallbacks: readonly Fallback[];
}

/** The models that answer a request, and those whose calls failed. */
interface Called {
  readonly answering: readonly Model[];
  readonly failed: readonly Model[];
}

/** Calls models. If all fail, it calls another one until one answers; by default the same again. */
function callUntilAnswered(
  models: readonly Model[],
  { failing }: Traffic,
  random: Random,
  next: (failed: Model) => Model = (model) => model,
): Called {
  const failed: Model[] = [];
  const answers = (model: Model) => {
    const isFailed = random.uniform() < (failing?.[model.name] ?? 0);
    if (isFailed) failed.push(model);
    return !isFailed;
  };
  const answering = models.filter(answers);
  for (let model = models[0]!; answering.length === 0; ) {
    model = next(model);
    if (answers(model)) answering.push(model);
  }
  return { answering, failed };
}

function nextModel(model: Model): Model {
  return MODELS[(MODELS.indexOf(model) + 1) % MODELS.length]!;
}

/** Plays a conversation and returns its cost. Upstreams remember what they have read for five minutes. */
function play(
  { system, users, gaps, answerLength, promptFactor, chargeOf }: Script,
  { caches, failureCost = 0 }: Traffic,
  modelsFor: (request: number) => Called,
  onAnswer: (played: Played) => void = () => {},
): number {
  const messages: Message[] = [{ role: "system", content: system }];
  const read = new Map<string, { at: number; characters: number }>();
  let now = 0;
  let total = 0;
  for (const [request, user] of users.entries()) {
    now += gaps[request]!;
    messages.push({ role: "user", content: user });
    const characters = lengthOf(messages);
    const { answering, failed } = modelsFor(request);
    const answerOf = (model: Model) => {
      const grain = model.grain * promptFactor(model, request);
      const tokens = (count: number) => Math.round((grain * count) / LETTERS_PER_TOKEN);
      const before = read.get(model.name);
      const isWarm = caches && before !== undefined && now - before.at < 300_000;
      const warm = isWarm ? 128 * Math.floor(tokens(before.characters) / 128) : 0;
      const cached = warm >= 1024 ? warm : 0;
      const promptTokens = tokens(characters);
      const isWritten = caches && promptTokens >= 1024 && "cache_write" in model.price;
      const writes = isWritten ? promptTokens - cached : 0;
      const usage = {
        ...NO_USAGE,
        promptTokens,
        cachedTokens: cached,
        cacheWriteTokens: writes,
        completionTokens: answerLength(model, request),
      };
      const listed = costOf(usage, model.price)!;
      const charge = chargeOf(model);
      const cost = listed * (charge ?? 1);
      return { model, usage: charge === undefined ? usage : { ...usage, cost }, cost };
    };
    const answers = answering.map(answerOf);
    const fallbacks = failed.map((model) => {
      return { model: model.name, reason: "failed", cost: failureCost * answerOf(model).cost };
    });
    for (const model of answering) read.set(model.name, { at: now, characters });
    onAnswer({ messages: [...messages], gap: gaps[request]!, answers, fallbacks });
    total += [...answers, ...fallbacks].reduce((sum, { cost }) => sum + cost, 0);
    const { completionTokens } = answers[0]!.usage;
    const letters = (LETTERS_PER_TOKEN * completionTokens) / answers[0]!.model.grain;
    const text = "y".repeat(Math.round(letters / SHORT));
    messages.push({ role: "assistant", content: text });
  }
  return total;
}

function scriptOf(
  random: Random,
  i: number,
  { requests, seed, system = 3000, spread = 0.4, unseen = false }: Traffic,
  { lengths, charges }: Readonly<Record<"lengths" | "charges", ByCategory>>,
): Script {
  const category = random.integer(CATEGORIES);
  const mood = Math.exp(0.3 * random.normal());
  const long = (mean: number) => Math.round((mean / SHORT) * Math.exp(spread * random.normal()));
  return {
    category,
    system: `${seed} ${i} ${"s".repeat(long(system))}`,
    users: Array.from({ length: requests }, () => "u".repeat(long(900))),
    gaps: Array.from({ length: requests }, () => -90_000 * Math.log(1 - random.uniform())),
    chargeOf: ({ name }) => charges.get(name)?.[category],
    promptFactor: ({ name }, request) =>
      unseen ? 8 * Math.exp(0.5 * random.split(`${name} prompt ${request}`).normal()) : 1,
    answerLength: (model, request) => {
      const own = random.split(`${model.name} ${request}`);
      return Math.max(
        1,
        Math.round(lengths.get(model.name)![category]! * mood * Math.exp(0.4 * own.normal())),
      );
    },
  };
}

/** Routing depends on the category, so the answers of a model are not a random sample of the requests. */
function choose(random: Random, category: number, { favourite }: Traffic): Model {
  if (favourite && random.uniform() < favourite.share) {
    return MODELS.find(({ name }) => name === favourite.model)!;
  }
  return MODELS[random.uniform() < 0.6 ? category : random.integer(3)]!;
}

function pricedOf(
  prices: AnswerPrices,
  messages: readonly Message[],
  category: number,
  at: number,
  answers: Played["answers"],
) {
  const w = Float64Array.from({ length: 3 }, (_, m) => (m === category ? 0.9 : 0.05));
  const promptTokens = Math.ceil(
    (lengthOf(messages) + JSON_OF_MESSAGE * messages.length) / LETTERS_PER_TOKEN,
  );
  const conversation = {
    prefixes: historyOf(messages, false).prefixes,
    w,
    needs: { promptTokens, answerTokens: undefined },
    isRunning: messages.length > 2,
    session: undefined,
    at,
  };
  const served = MODELS.map(({ name, price, host }) => ({
    spec: {
      name,
      price,
      cache: USUAL_CACHE,
      provider: host,
      upstreamName: name,
      capabilities: {},
      retries: 0,
    },
    listCost: (usage: Usage) => costOf({ ...usage, cost: undefined }, price)!,
  }));
  const quotes = new Map<string, PriceQuote>();
  for (const model of served) quotes.set(model.spec.name, prices.quote(model, conversation)!);
  const paid = answers.map(({ model, usage, cost }) => ({
    model: model.name,
    usage,
    cost,
    isWhole: true,
  }));
  return prices.settle(conversation, served, quotes, paid);
}

/** Characters of a message in JSON besides its text. */
const JSON_OF_MESSAGE = 32;
