import { CategoryMeans } from "./category-means.ts";
import { ofModel } from "./linked.ts";
import { RecentMap } from "./recent-map.ts";

/** Expected tokens before the first answer, and how much they differ. */
interface Prior {
  /** Expected tokens before the first answer. */
  readonly first: number;
  /** Standard deviations of the logarithm: between models, and of one model between categories. */
  readonly betweenModels: number;
  readonly betweenCategories: number;
  /** Squared coefficient of variation of a session. */
  readonly variation: number;
}

/** Tokens of answers. */
export const OUTPUTS: Prior = {
  first: 300,
  betweenModels: 0.35,
  betweenCategories: 0.3,
  variation: 0.2,
};

/** Tokens of prompts as the upstream counts them, per token of the estimate. */
export const PROMPTS: Prior = {
  first: 1,
  betweenModels: 0.15,
  betweenCategories: 0.05,
  variation: 0.01,
};

/** Expected tokens by model and category, with their relative standard deviation. */
export class TokenMeans {
  readonly #prior: Prior;
  readonly #means: CategoryMeans;
  /** A list for each session, with the tokens of its models. */
  readonly #sessions = new RecentMap<SessionLengths>(MOST);
  #answers = 0;
  #count = 0;
  #expected = 0;
  #residuals = 0;

  constructor(prior: Prior) {
    this.#prior = prior;
    this.#means = new CategoryMeans(prior.first);
  }

  of(model: string, w: Float64Array): number {
    return this.#means.of(model, w);
  }

  /** Learns the tokens of an answer, of which `base` times the mean were expected. */
  learn(session: string, model: string, w: Float64Array, tokens: number, base = 1): void {
    const expected = base * this.of(model, w);
    const first = this.#sessions.get(session);
    const found = ofModel(first, model);
    const known = found ?? { model, tokens: 0, expected: 0, next: first };
    const before = known.tokens - known.expected;
    if (known.expected === 0) this.#count++;
    known.tokens += tokens;
    known.expected += expected;
    this.#residuals += (known.tokens - known.expected) ** 2 - before ** 2;
    this.#expected += expected;
    this.#answers++;
    // A known session is set again, so that it is not forgotten while it is used.
    this.#sessions.set(session, found ? first! : known);
    this.#means.learn(model, w, tokens, base);
  }

  /**
   * Relative standard deviation of the mean. The answers of one session resemble each other, so
   * sessions are counted: with n sessions like this one, v / n, where v is the squared coefficient
   * of variation of a session. Without sessions it is the difference between models.
   */
  doubt(model: string, w: Float64Array): number {
    const { betweenModels, betweenCategories, variation: usual } = this.#prior;
    const n = this.#count;
    const own = n === 0 ? 0 : Math.max(0, (n * this.#residuals) / this.#expected ** 2);
    const variation = (n * own + PRIOR_SESSIONS * usual) / (n + PRIOR_SESSIONS);
    const perSession = Math.max(1, this.#answers / Math.max(1, n));
    const sessions = this.#means.answersLike(model, w) / perSession;
    const inAll = this.#means.answersOf(model) / perSession;
    // Sessions of other categories show how the model differs in general.
    const prior = betweenCategories ** 2 + 1 / (1 / betweenModels ** 2 + inAll / variation);
    return 1 / Math.sqrt(1 / prior + sessions / variation);
  }
}

/** Tokens and expected tokens of a model in one session. */
interface SessionLengths {
  readonly model: string;
  tokens: number;
  expected: number;
  readonly next: SessionLengths | undefined;
}

const PRIOR_SESSIONS = 4;
const MOST = 20_000;
