import type { Answered } from "../../store/events.ts";
import type { AlwaysCosts, PricedCounts } from "../../store/priced-counts.ts";
import type { Prefix } from "../dialects/dialect.ts";
import { expectedPrice } from "../providers/answer-price.ts";
import type { Needs } from "../providers/capabilities.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { Usage } from "../providers/upstream/usage.ts";
import { CacheHits } from "./cache-hits.ts";
import { Charges } from "./charges.ts";
import { CommonErrors, type ErrorSources } from "./common-errors.ts";
import { ReadPrefixes } from "./prefixes.ts";
import { OUTPUTS, PROMPTS, TokenMeans } from "./token-means.ts";

/** The properties of a conversation that the price of an answer depends on. */
export interface PricedConversation {
  readonly prefixes: readonly Prefix[];
  /** Shares of the categories. */
  readonly w: Float64Array;
  readonly needs: Pick<Needs, "promptTokens" | "answerTokens">;
  /** Whether the conversation already has an answer. */
  readonly isRunning: boolean;
  /** Session id of the client, if it sent one. */
  readonly session: string | undefined;
  /** Time of the request, in milliseconds since 1970. */
  readonly at: number;
}

/** Expected price of a model's answer in US dollars, and the tokens that it is based on. */
export interface PriceQuote {
  readonly expected: number;
  readonly prompt: number;
  /** Tokens of the prompt that probably come from the upstream's cache. */
  readonly cached: number;
  readonly output: number;
}

/** An answer whose usage and cost are known. */
export interface PaidAnswer {
  readonly model: string;
  readonly usage: Usage;
  readonly cost: number;
  /** Whether the answer is complete. */
  readonly isWhole: boolean;
}

/**
 * The answer with which all models are compared, with the expected tokens of its model and their relative
 * standard deviation.
 */
interface GivenAnswer {
  readonly answer: PaidAnswer;
  readonly output: number;
  readonly outputDoubt: number;
  readonly input: number;
  readonly inputDoubt: number;
}

/** Numbers that the tallies add for one request. */
export type SettledPrices = Pick<Answered, "priced" | "always">;

type PricedModel = Pick<ServedModel, "spec" | "listCost">;

/**
 * Expected prices of a router's answers: of each candidate for a decision, and of each model for
 * the comparison with "always one model" (docs/decisions/0017-savings.md). The knowledge is in
 * memory: prefixes that models have read, lengths of answers, charges of upstreams that report costs.
 */
export class AnswerPrices {
  readonly read = new ReadPrefixes();
  readonly #outputs = new TokenMeans(OUTPUTS);
  readonly #prompts = new TokenMeans(PROMPTS);
  readonly #charges = new Charges();
  readonly #hits = new CacheHits();
  readonly #errors = new CommonErrors();
  /** Memory for the sources of one model's errors, which is used again for each model. */
  #sources: ErrorSources = { slopes: new Float64Array(0), sds: new Float64Array(0) };

  /** Quotes the price of a model's answer, or undefined if the model has no price. */
  quote(
    model: Pick<PricedModel, "spec">,
    conversation: PricedConversation,
  ): PriceQuote | undefined {
    const { name, price, cache, provider } = model.spec;
    if (!price) return undefined;
    const { prefixes, w, needs, at } = conversation;
    const prompt = needs.promptTokens * this.#prompts.of(name, w);
    const output = Math.min(this.#outputs.of(name, w), needs.answerTokens ?? Infinity);
    const share = this.read.warmShare(prefixes, at - 1000 * cache.seconds, name);
    const hit = this.#hits.meanOf(name);
    const { dollars, warm } = expectedPrice(price, { prompt, share, output }, cache, hit);
    const { mean: charge } = this.#charges.of(provider, name, w);
    return { expected: charge * dollars, prompt, cached: hit * warm, output };
  }

  /**
   * Learns from the answers to one request. Returns what the tallies add for the models that
   * answered, for all models together under the name "", and for each model alone.
   */
  settle(
    conversation: PricedConversation,
    models: readonly (PricedModel | undefined)[],
    quotes: ReadonlyMap<string, PriceQuote>,
    answers: readonly PaidAnswer[],
  ): SettledPrices {
    const { prefixes, at } = conversation;
    const session = this.#sessionOf(conversation);
    const always = this.#always(models, conversation, answers);
    const priced: Record<string, Partial<PricedCounts>> = { "": { priced: 1 } };
    for (const answer of answers) {
      const own = this.#settleOne(conversation, session, models, quotes, answer);
      if (own) priced[answer.model] = own;
    }
    this.read.remember(prefixes, {
      session,
      models: answers.map(({ model }) => model),
      at,
      outputs: quotes,
    });
    return { priced, always };
  }

  /**
   * Learns from the second answer of a duel that came after the first one was settled. The request
   * is in the comparison already, so this adds only the counts of the model's own answer.
   */
  settleSecond(
    conversation: PricedConversation,
    models: readonly (PricedModel | undefined)[],
    quotes: ReadonlyMap<string, PriceQuote>,
    answer: PaidAnswer,
  ): SettledPrices {
    const { prefixes, at } = conversation;
    const session = this.#sessionOf(conversation);
    const own = this.#settleOne(conversation, session, models, quotes, answer);
    this.read.alsoRead(prefixes, answer.model, at);
    return own ? { priced: { [answer.model]: own } } : {};
  }

  #sessionOf({ session, prefixes }: PricedConversation): string {
    return session ?? this.read.find(prefixes)?.session ?? prefixes.at(-1)?.hash ?? "";
  }

  /** Learns from one answer. Returns the counts of its model; undefined if the price is unknown. */
  #settleOne(
    conversation: PricedConversation,
    session: string,
    models: readonly (PricedModel | undefined)[],
    quotes: ReadonlyMap<string, PriceQuote>,
    answer: PaidAnswer,
  ): Partial<PricedCounts> | undefined {
    const { model, cost, isWhole } = answer;
    const served = models.find((one) => one?.spec.name === model);
    const expected = quotes.get(model)?.expected;
    if (!isWhole || !served || expected === undefined) return undefined;
    this.#learn(conversation, session, served, answer);
    return { priced: 1, expected, residual_sq: (cost - expected) ** 2 };
  }

  /** Expected cost of the request for each model that has a price. */
  #always(
    models: readonly (PricedModel | undefined)[],
    conversation: PricedConversation,
    answers: readonly PaidAnswer[],
  ): AlwaysCosts {
    const priced = models.filter((model) => model?.spec.price) as PricedModel[];
    const costs = new Float64Array(priced.length);
    const doubts = new Float64Array(priced.length);
    const { prefixes, w } = conversation;
    const before = this.read.find(prefixes);
    const given = answers.map(
      (answer): GivenAnswer => ({
        answer,
        output: this.#outputs.of(answer.model, w),
        outputDoubt: this.#outputs.doubt(answer.model, w),
        input: this.#prompts.of(answer.model, w),
        inputDoubt: this.#prompts.doubt(answer.model, w),
      }),
    );
    for (let i = 0; i < priced.length; i++) {
      const alone = this.#alone(priced[i]!, conversation, given, before);
      costs[i] = alone.cost;
      doubts[i] = alone.doubt;
    }
    return { models: priced.map(({ spec }) => spec.name), costs, doubts };
  }

  /**
   * Expected cost of the request if one model had answered the whole conversation. The lengths of
   * its answers follow from those that were given, by the ratio of the two models' mean lengths.
   * The doubt is the standard deviation of errors that many requests have in common: these ratios, those of
   * the lengths of prompts, whether the upstream caches prefixes, and the charges of an upstream that
   * reports costs.
   */
  #alone(
    model: PricedModel,
    { prefixes, w, isRunning, at }: PricedConversation,
    answers: readonly GivenAnswer[],
    before: ReturnType<ReadPrefixes["find"]>,
  ): { readonly cost: number; readonly doubt: number } {
    const { name, price, cache, provider } = model.spec;
    const own = answers.find(({ answer }) => answer.model === name)?.answer;
    let given = 0;
    let read = 0;
    if (own) {
      given = own.usage.completionTokens;
      read = own.usage.promptTokens;
    } else {
      const output = this.#outputs.of(name, w);
      const input = this.#prompts.of(name, w);
      for (const other of answers) {
        const { usage } = other.answer;
        given += (usage.completionTokens * (output / other.output)) / answers.length;
        read += (usage.promptTokens * (input / other.input)) / answers.length;
      }
    }

    // This model would also have given the earlier answers, at its own length, so the prompt would have another length.
    const lengthRatio = before?.served ? this.read.outputOf(before, name) / before.served : 1;
    const earlier = read * (prefixes.at(-1)?.answerShare ?? 0);
    const prompt = read + earlier * (lengthRatio - 1);
    // A conversation that began on another node counts as read, so that savings are
    // underestimated, not overestimated.
    const isForeign = isRunning && !before;
    const share = isForeign
      ? (prefixes.at(-3)?.share ?? 0)
      : this.read.warmShare(prefixes, at - 1000 * cache.seconds);

    const hit = this.#hits.of(name);
    const { mean: usual, doubt } = this.#charges.of(provider, name, w);
    // If the upstream has reported the cost of this model's own answer, the ratio is known.
    const listed = own && own.usage.cost !== undefined ? model.listCost(own.usage) : 0;
    const charge = listed > 0 ? own!.cost / listed : usual;
    const { dollars, gap } = expectedPrice(
      price!,
      { prompt, share, output: given },
      cache,
      hit.mean,
    );
    // Derivative of the price by the logarithm of this model's mean length.
    const others = before?.served ? 1 - this.read.partOf(before, name) / before.served : 0;
    const outputDollars = (given * price!.output) / 1e6;
    const perPrompt = (dollars - outputDollars) / Math.max(1, prompt);
    const slope = (own ? 0 : outputDollars) + others * earlier * lengthRatio * perPrompt;
    const other = answers.find(({ answer }) => answer.model !== name);
    const outputSd = Math.hypot(this.#outputs.doubt(name, w), other?.outputDoubt ?? 0);
    const inputSd = own ? 0 : Math.hypot(this.#prompts.doubt(name, w), other?.inputDoubt ?? 0);
    const M = w.length;
    if (this.#sources.sds.length !== 3 * M + 1) {
      this.#sources = {
        slopes: new Float64Array(3 * M + 1),
        sds: new Float64Array(3 * M + 1),
      };
    }
    const { slopes, sds } = this.#sources;
    slopes[0] = charge * gap;
    sds[0] = hit.sd;
    for (let m = 0; m < M; m++) {
      const dollarsOf = w[m]! * charge;
      slopes[1 + m] = dollarsOf * slope;
      sds[1 + m] = outputSd;
      slopes[1 + M + m] = dollarsOf * (dollars - outputDollars);
      sds[1 + M + m] = inputSd;
      slopes[1 + 2 * M + m] = dollarsOf * dollars;
      sds[1 + 2 * M + m] = own ? 0 : doubt;
    }
    return { cost: charge * dollars, doubt: this.#errors.add(name, this.#sources) };
  }

  #learn(
    { prefixes, w, needs, at }: PricedConversation,
    session: string,
    model: PricedModel,
    { usage, cost }: PaidAnswer,
  ): void {
    const { name, price, cache, provider } = model.spec;
    const share = this.read.warmShare(prefixes, at - 1000 * cache.seconds, name);
    const { promptTokens, cachedTokens, cacheWriteTokens } = usage;
    const warm = share * promptTokens;
    if (warm >= cache.minTokens) this.#hits.learn(name, Math.min(1, cachedTokens / warm));
    else if (price?.cache_write !== undefined && promptTokens >= cache.minTokens) {
      // An upstream that charges for writes shows with every prompt whether it caches.
      this.#hits.learn(name, Math.min(1, (cachedTokens + cacheWriteTokens) / promptTokens));
    }
    if (usage.completionTokens > 0) {
      this.#outputs.learn(session, name, w, usage.completionTokens);
    }
    if (needs.promptTokens > 0 && promptTokens > 0) {
      this.#prompts.learn(session, name, w, promptTokens, needs.promptTokens);
    }
    if (usage.cost !== undefined) {
      this.#charges.learn(provider, name, w, cost, model.listCost(usage));
    }
  }
}
