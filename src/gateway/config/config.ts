import { z } from "zod";
import { SCOPES } from "./scopes.ts";

/**
 * joust.yaml: what the gateway serves, and how. Names are those of the HTTP
 * interface; every member but a pool has a default.
 *
 *   provider  a host of models: address, key, dialect
 *   model     one upstream model under the name that clients and votes use
 *   router    a pool of models with an encoder, a policy and a price of its own
 */
/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type Config = z.output<typeof CONFIG>;
export type ModelConfig = z.output<typeof MODEL>;
export type RouterConfig = z.output<typeof ROUTER>;

const NAME = z
  .string()
  .regex(/^[\w.:/@-]+$/, "has a character other than letters, digits and . _ : / @ -");
const SECONDS = z.number().positive().max(86_400);
const SHARE = z.number().min(0).max(1);
const FILE = z.string().min(1);

const PROVIDER = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  /** `${NAME}` takes it from the environment; a local server may need none. */
  key: z.string().optional(),
  dialect: z.enum(["openai", "anthropic"]).default("openai"),
  headers: z.record(z.string(), z.string()).default({}),
  /** Whether usage of a stream has to be asked for; some refuse to be asked. */
  asks_usage: z.boolean().default(true),
});

/** US dollars for a million tokens. */
const PRICE = z.strictObject({
  input: z.number().min(0),
  output: z.number().min(0),
  cached_input: z.number().min(0).optional(),
  cache_write: z.number().min(0).optional(),
});

const MODEL = z.strictObject({
  provider: NAME,
  /** What the provider calls it; the model's own name unless said. */
  model: z.string().min(1).optional(),
  price: PRICE.optional(),
  /** Tokens that prompt and answer may have together. */
  context: z.int().positive().optional(),
  vision: z.boolean().optional(),
  tools: z.boolean().optional(),
  json_schema: z.boolean().optional(),
  timeout_seconds: SECONDS.default(600),
  first_byte_seconds: SECONDS.default(60),
  retries: z.int().min(0).max(10).default(2),
});

const POLICY = z
  .union([
    z.string().transform((name) => ({ name, options: {} })),
    z.strictObject({
      name: z.string(),
      options: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
    }),
  ])
  .prefault("joust");

/** Answers that are voted on. An ordinary client never sees two, unless it asks. */
const DUELS = z
  .strictObject({
    /** false: only where a request asks; auto: where it teaches enough; true: always. */
    mode: z.union([z.boolean(), z.literal("auto")]).default(false),
    /** Whether a request may ask for a duel by itself. */
    on_request: z.boolean().default(true),
    /** At most this share of requests, and of what is spent, goes into duels that no request has asked for with `true`. */
    share: SHARE.default(0.2),
    spend: SHARE.default(0.3),
  })
  .prefault({});

/** A model that votes on a share of the answers, as one more voter. */
const JUDGE = z.strictObject({
  model: NAME,
  share: SHARE.default(0.05),
  weight: SHARE.default(0.5),
});

const ROUTER = z.strictObject({
  /** All models unless said. */
  models: z.array(NAME).min(1).optional(),
  /** A name or a folder; or a bundle that `joust fit` made, with its own encoder. */
  encoder: z.string().min(1).optional(),
  bundle: FILE.optional(),
  /** What is known of the models before the first vote: csv model,category,perf,cost. */
  scores: FILE.optional(),
  policy: POLICY,
  /** 0: quality alone; 10: the cheapest. */
  cost_quality_tradeoff: z.number().min(0).max(10).default(3),
  /** US dollars a request on average, kept by raising the price of dear models. */
  budget: z.number().positive().optional(),
  /** observe: log what would be chosen, answer with `fallback`; bypass: answer with it. */
  mode: z.enum(["apply", "observe", "bypass"]).default("apply"),
  fallback: NAME.optional(),
  duels: DUELS,
  /** Share of choices made at random, so that other policies can be judged by the log. */
  explore: SHARE.default(0.02),
  /** What another model must promise more, in quality, to take over a running session. */
  session_margin: SHARE.default(0.05),
  /** Whether a voter's record decides how much a vote counts. */
  weigh_voters: z.boolean().default(true),
  judge: JUDGE.optional(),
  /** Falls back to the best fixed model when votes say that routing is worse. */
  guard: z.boolean().default(true),
  seed: z.int().min(0).default(1),
});

const LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;

const SERVER = z
  .strictObject({
    host: z.string().default("127.0.0.1"),
    port: z.int().min(0).max(65_535).default(8080),
    body_mb: z.number().positive().max(1024).default(20),
    /** How long a client may take to send a request. */
    request_seconds: SECONDS.default(60),
    drain_seconds: SECONDS.default(30),
    /** Requests a minute of one key that has no limit of its own. */
    rate: z.number().positive().optional(),
    /** Origins of other sites' pages that may call the interface from a browser. */
    cors: z.array(z.url()).default([]),
    log: z.enum(LEVELS).optional(),
  })
  .prefault({});

const STORE = z
  .strictObject({
    /** A PostgreSQL address for several nodes; else a SQLite file in the data folder. */
    url: z
      .string()
      .regex(/^postgres(ql)?:\/\//, "is no address like postgres://user:password@host/name")
      .optional(),
    /** Whether the text of prompts is kept; with a key it is encrypted. */
    prompts: z.boolean().default(false),
    key: z.string().optional(),
    retention_days: z.number().positive().optional(),
  })
  .prefault({});

/** A key that comes with the configuration; `joust keys` makes others, kept by their hash. */
const KEY = z.strictObject({
  key: z.string().min(16, "is shorter than 16 characters"),
  scopes: z.array(z.enum(SCOPES)).min(1).default(["route", "vote"]),
  /** US dollars a calendar month, and requests a minute. */
  budget: z.number().positive().optional(),
  rate: z.number().positive().optional(),
  /** As of a router, for this key's requests. */
  duels: z.union([z.boolean(), z.literal("auto")]).optional(),
});

const SANDBOX = z
  .strictObject({
    /** 1: at the pace of real models. */
    speed: z.number().positive().max(1000).default(1),
    seed: z.int().min(0).default(1),
  })
  .prefault({});

export const CONFIG = z.strictObject({
  server: SERVER,
  store: STORE,
  keys: z.record(NAME, KEY).default({}),
  providers: z.record(NAME, PROVIDER).default({}),
  models: z.record(NAME, MODEL).default({}),
  routers: z
    .record(NAME, ROUTER.prefault({}))
    .refine((routers) => Object.keys(routers).length > 0, "names no router")
    .prefault({ auto: {} }),
  sandbox: SANDBOX,
});
