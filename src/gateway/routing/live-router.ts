import { isDeepStrictEqual } from "node:util";
import { categoryMembership } from "../../core/bandit/features.ts";
import type { Pool } from "../../core/bandit/policy.ts";
import { mean } from "../../core/linalg/linalg.ts";
import type { RouterSettings } from "../../core/router.ts";
import { Follower } from "../../learner/follower.ts";
import { Learner } from "../../learner/learner.ts";
import type { Configured, LogEvent } from "../../store/events.ts";
import type { Store } from "../../store/store.ts";
import { systemTimers } from "../../store/timers.ts";
import { toHalf } from "../../store/vector.ts";
import type { Clock } from "../clock/clock.ts";
import type { RouterConfig } from "../config/config.ts";
import type { Peers } from "../peers/peers.ts";
import type { ServedModel } from "../providers/served-model.ts";
import { AnswerPrices } from "./answer-prices.ts";
import { type Calibration, poolOf, unusedScores } from "./calibration.ts";
import type { RouterView } from "./choose.ts";
import { DuelCap } from "./duel-cap.ts";
import { LanguageWatch } from "./language-watch.ts";
import type { PolicyKinds } from "./policy-kinds.ts";
import type { ReadNews } from "./prefixes.ts";
import { RecentQueries } from "./recent.ts";

/** Tools that all routers of a gateway share. */
export interface RouterTools {
  readonly store: Store;
  readonly kinds: PolicyKinds;
  readonly clock: Clock;
  /** Name of this node as the holder of a lease. */
  readonly node: string;
  readonly peers: Peers;
  /** Longest time until a router notices a change whose notification was lost; one second by default. */
  readonly pollMs?: number | undefined;
  readonly onError: (error: unknown, router: string) => void;
}

/**
 * Interval at which a router looks for changes. It grows with the number of routers, so that together
 * they take little processor time.
 */
export function pollMsFor(routers: number): number {
  return Math.min(4000, Math.max(1000, 4 * routers));
}

/** Embedding of a prompt, and whether the encoder failed, so that it says nothing about the prompt. */
interface EncodedPrompt {
  readonly x: Float64Array;
  readonly failed: boolean;
}

/** A change of a router for which all reads of the store are done. Nothing changes before `apply`. */
export interface PreparedChange {
  /** Events to log before the change is applied. */
  readonly events: readonly LogEvent[];
  apply(): Promise<void>;
  discard(): Promise<void>;
}

/** A router that is served: its models, its encoder and the newest posterior. */
export class LiveRouter {
  readonly name: string;
  readonly calibration: Calibration;
  readonly recent = new RecentQueries();
  readonly prices = new AnswerPrices();
  readonly #languages = new LanguageWatch();
  config: RouterConfig;
  cap: DuelCap;
  #guard: string | undefined;
  readonly #tools: RouterTools;
  readonly #learner: Learner;
  #follower: Follower;
  #settings: Partial<RouterSettings>;
  #models: ReadonlyMap<string, ServedModel>;
  #view: RouterView | undefined;
  /** Embedding of a prompt that could not be encoded: the mean of the centroids. */
  readonly #meanX: Float64Array;
  /** News of conversations that the other processes have not been told yet. */
  #unsaid: ReadNews[] = [];
  /** Time at which the recent queries were last read from the store. */
  #recentAt = Number.NEGATIVE_INFINITY;
  /** Calls of the encoder that have not ended. */
  readonly #encoding = new Set<Promise<unknown>>();

  private constructor(
    name: string,
    config: RouterConfig,
    models: ReadonlyMap<string, ServedModel>,
    calibration: Calibration,
    tools: RouterTools,
  ) {
    const { store, kinds, clock, node, onError, pollMs } = tools;
    this.name = name;
    this.config = config;
    this.calibration = calibration;
    this.cap = new DuelCap(config.duels.share, config.duels.spend);
    this.#tools = tools;
    if (tools.peers.count > 1) {
      this.prices.read.onRead = (news) => this.#tellRead(news);
    }
    this.#models = models;
    this.#settings = settingsOf(config, models);
    this.#follower = this.#newFollower(this.#settings);
    this.#meanX = toHalf(mean([...calibration.centroids]));
    this.#learner = new Learner({
      store,
      router: name,
      holder: node,
      findPolicy: kinds.find,
      ...(pollMs !== undefined && { settings: { pollMs } }),
      timers: { ...systemTimers, now: () => clock.now(), date: () => clock.date() },
      onLearned: (fold) => this.#follower.adopt(fold),
      onError: (error) => onError(error, name),
    });
  }

  /** Opens a router, which learns nothing before `learn` is called. */
  static async open(
    name: string,
    config: RouterConfig,
    models: ReadonlyMap<string, ServedModel>,
    calibration: Calibration,
    tools: RouterTools,
  ): Promise<LiveRouter> {
    const router = new LiveRouter(name, config, models, calibration, tools);
    await tools.store.append(await router.#unlogged(config, models));
    await router.recent.fill(tools.store, name);
    await router.#follower.start();
    return router;
  }

  /** Starts to learn from votes. No other router of this name may be learning in this process. */
  learn(): void {
    this.#learner.start();
  }

  /** Prepares another configuration and other models. What was learned about models that stay is kept. */
  async prepare(
    config: RouterConfig,
    models: ReadonlyMap<string, ServedModel>,
  ): Promise<PreparedChange> {
    const settings = settingsOf(config, models);
    const isSame = isDeepStrictEqual(settings, this.#settings);
    const events = await this.#unlogged(config, models);
    const [before, next] = [this.#follower, isSame ? this.#follower : this.#newFollower(settings)];
    const retire = async (follower: Follower) => {
      if (!isSame) await follower.stop();
    };
    try {
      if (!isSame) await next.start();
    } catch (error) {
      await retire(next);
      throw error;
    }
    return {
      events,
      discard: () => retire(next),
      apply: async () => {
        this.#models = models;
        if (!isDeepStrictEqual(config.duels, this.config.duels)) {
          this.cap = new DuelCap(config.duels.share, config.duels.spend);
        }
        this.config = config;
        this.#settings = settings;
        this.#follower = next;
        this.#view = undefined;
        await retire(before);
        // If the store fails now, the follower tries again soon.
        await next.load().catch((error: unknown) => this.#tools.onError(error, this.name));
      },
    };
  }

  /** The model that the guard serves while routing does worse. Undefined if the configuration has no guard. */
  get guard(): string | undefined {
    return this.config.guard ? this.#guard : undefined;
  }

  set guard(model: string | undefined) {
    this.#guard = model;
  }

  get view(): RouterView {
    const { configuration, router, version } = this.#follower.serving!;
    const { pool, encoder } = configuration;
    const { guard } = this;
    const last = this.#view?.pool === pool ? this.#view : undefined;
    if (last?.router === router && last.version === version && last.guard === guard) return last;
    this.#view = {
      pool,
      models: last?.models ?? this.#modelsOf(pool),
      membership: last?.membership ?? categoryMembership(pool.centroids),
      name: this.name,
      config: this.config,
      router,
      version,
      encoder,
      costUnit: this.#settings.costUnit!,
      guard,
    };
    return this.#view;
  }

  /**
   * The models of the learner's pool, followed by the fallback if the pool lacks it: the learner may have an older
   * configuration than this router, or the newer one of another node.
   */
  #modelsOf(pool: Pool): (ServedModel | undefined)[] {
    const models = pool.models.map((name) => this.#models.get(name));
    const { fallback } = this.config;
    if (fallback !== undefined && !pool.models.includes(fallback)) {
      models.push(this.#models.get(fallback));
    }
    return models;
  }

  /**
   * Reads the queries that other processes of this machine have decided recently, which only the
   * log has. A single process knows all of its queries.
   */
  async readRecent(): Promise<void> {
    const { store, clock, peers } = this.#tools;
    if (peers.count === 1 || clock.now() - this.#recentAt < RECENT_MS) return;
    this.#recentAt = clock.now();
    // While the store is unavailable, only the queries of this process are known.
    await this.recent.replace(store, this.name).catch(() => {});
  }

  /**
   * Tells the other processes of this machine what models have read. The news of one turn of the event loop share
   * a message. They must not wait longer: an agent may send the next request of the conversation, on another
   * connection, a millisecond after its answer.
   */
  #tellRead(news: ReadNews): void {
    this.#unsaid.push(news);
    if (this.#unsaid.length > 1) return;
    setImmediate(() => {
      this.#tools.peers.tell("read", [this.name, this.#unsaid]);
      this.#unsaid = [];
    });
  }

  get models(): ReadonlyMap<string, ServedModel> {
    return this.#models;
  }

  /** Whether this node learns from the votes of this router. */
  get isLearner(): boolean {
    return this.#learner.fold !== undefined;
  }

  get warnings(): string[] {
    const { kind, name } = this.calibration.encoder;
    const share = this.#languages.foreignShare;
    const scores = unusedScores(this.calibration, [...this.#models.keys()]);
    const warnings = scores === undefined ? [] : [scores];
    if (kind === "openai" || share < FOREIGN_SHARE) return warnings;
    return [
      ...warnings,
      `${Math.round(100 * share)}% of the recent prompts are not in English, which the encoder ${name} knows best, so routing may not distinguish their categories; hint: fit an encoder to your prompts (joust fit), or use OpenAItext`,
    ];
  }

  /**
   * Embeds a prompt, without a promise if the encoder can. If the encoder fails, the request is routed
   * without its prompt.
   */
  encode(text: string): EncodedPrompt | Promise<EncodedPrompt> {
    this.#languages.observe(text);
    const { encoder } = this.calibration;
    if (!encoder.encodeText) return this.#encodeLater(text);
    try {
      return { x: toHalf(encoder.encodeText(text)), failed: false };
    } catch (error) {
      return this.#encodingFailed(error);
    }
  }

  async #encodeLater(text: string): Promise<EncodedPrompt> {
    const encoding = this.calibration.encoder.encode([text]);
    this.#encoding.add(encoding);
    try {
      const [x] = await encoding;
      return { x: toHalf(x!), failed: false };
    } catch (error) {
      return this.#encodingFailed(error);
    } finally {
      this.#encoding.delete(encoding);
    }
  }

  #encodingFailed(error: unknown): EncodedPrompt {
    this.#tools.onError(error, this.name);
    return { x: this.#meanX, failed: true };
  }

  /** Returns when no prompt is being embedded, so that the encoder can be closed. */
  async encoded(): Promise<void> {
    while (this.#encoding.size > 0) await Promise.allSettled(this.#encoding);
  }

  async close(): Promise<void> {
    await this.#learner.stop();
    await this.#follower.stop();
  }

  #newFollower(settings: Partial<RouterSettings>): Follower {
    const { store, kinds, onError, pollMs } = this.#tools;
    return new Follower({
      store,
      router: this.name,
      findPolicy: kinds.find,
      encoder: this.calibration.encoderName,
      settings,
      pollMs,
      onError: (error) => onError(error, this.name),
    });
  }

  /** The event of a configuration that differs from the last one in the log. */
  async #unlogged(
    config: RouterConfig,
    models: ReadonlyMap<string, ServedModel>,
  ): Promise<LogEvent[]> {
    const { store, clock } = this.#tools;
    const { calibration } = this;
    const learning: LearningConfiguration = {
      encoder: calibration.encoderName,
      policy: config.policy.name,
      options: config.policy.options,
      weighVoters: config.weigh_voters,
      seed: config.seed,
      pool: poolOf(calibration, [...models.keys()]),
    };
    const controls = await store.controls(this.name);
    const last = controls.findLast((event) => event.kind === "configured");
    if (last && isDeepStrictEqual(plain(last), plain(learning))) return [];
    return [{ kind: "configured", router: this.name, at: clock.date(), ...learning }];
  }
}

/** The part of a configuration that determines how votes are learned. */
type LearningConfiguration = Pick<
  Configured,
  "encoder" | "policy" | "options" | "weighVoters" | "seed" | "pool"
>;

/** Plain values, because a configuration from the database has no prototypes and undefined members. */
function plain(configuration: LearningConfiguration): unknown {
  const { encoder, policy, options, weighVoters, seed, pool } = configuration;
  const { models, categories, centroids, confusion, told, toldErrors } = pool;
  const rows = (list: readonly Float64Array[] = []) => list.map((row) => [...row]);
  const names = [[...models], [...categories]];
  const learned = { encoder, policy, options: { ...options }, weighVoters, seed };
  return {
    ...learned,
    names,
    centroids: rows(centroids),
    confusion: rows(confusion),
    told: rows(told),
    toldErrors: rows(toldErrors),
  };
}

function settingsOf(
  { explore, budget = 0 }: RouterConfig,
  models: ReadonlyMap<string, ServedModel>,
): Partial<RouterSettings> {
  const costs = [...models.values()].map(({ spec: { price } }) =>
    price ? (USUAL_PROMPT * price.input + USUAL_ANSWER * price.output) / 1e6 : 0,
  );
  return { explore, budget, costUnit: Math.max(...costs) || 1 };
}

const FOREIGN_SHARE = 0.2;
/** Shortest time between two reads of the recent queries. */
const RECENT_MS = 1000;

/** Tokens of a typical prompt and answer. Only the speed at which the budget is corrected depends on them. */
const USUAL_PROMPT = 500;
const USUAL_ANSWER = 300;
