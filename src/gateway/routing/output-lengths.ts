import { CategoryMeans } from "./category-means.ts";
import { ofModel } from "./linked.ts";
import { RecentMap } from "./recent-map.ts";

/** Expected tokens of answers by model and category, with their relative standard deviation. */
export class OutputLengths {
  readonly #means = new CategoryMeans(FIRST_OUTPUT);
  /** Answers by session, the models of which are linked. */
  readonly #sessions = new RecentMap<SessionLengths>(MOST);
  #answers = 0;
  #count = 0;
  #expected = 0;
  #residuals = 0;

  of(model: string, w: Float64Array): number {
    return this.#means.of(model, w);
  }

  learn(session: string, model: string, w: Float64Array, tokens: number): void {
    const expected = this.of(model, w);
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
    this.#means.learn(model, w, tokens);
  }

  /**
   * Relative standard deviation of the mean. The answers of one session resemble each other, so
   * sessions are counted: with n sessions like this one, v / n, where v is the squared coefficient
   * of variation of a session. Without sessions it is the difference between models.
   */
  doubt(model: string, w: Float64Array): number {
    const n = this.#count;
    const own = n === 0 ? 0 : Math.max(0, (n * this.#residuals) / this.#expected ** 2);
    const variation = (n * own + PRIOR_SESSIONS * USUAL_VARIATION) / (n + PRIOR_SESSIONS);
    const perSession = Math.max(1, this.#answers / Math.max(1, n));
    const sessions = this.#means.answersLike(model, w) / perSession;
    const inAll = this.#means.answersOf(model) / perSession;
    // Sessions of other categories show how long the model's answers are in general.
    const prior = BETWEEN_CATEGORIES ** 2 + 1 / (1 / BETWEEN_MODELS ** 2 + inAll / variation);
    return 1 / Math.sqrt(1 / prior + sessions / variation);
  }
}

/** Tokens and expected tokens of a model's answers in one session. */
interface SessionLengths {
  readonly model: string;
  tokens: number;
  expected: number;
  readonly next: SessionLengths | undefined;
}

/** Tokens of an answer before the first one. */
const FIRST_OUTPUT = 300;
/** Standard deviations of the logarithm of the length: between models, and of one model between categories. */
const BETWEEN_MODELS = 0.35;
const BETWEEN_CATEGORIES = 0.3;
const USUAL_VARIATION = 0.2;
const PRIOR_SESSIONS = 4;
const MOST = 20_000;
