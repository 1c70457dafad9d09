import { z } from "zod";

/**
 * joust.yaml: what the gateway serves, and how. Names are those of the HTTP
 * interface; every member but a pool has a default.
 *
 *   provider  a host of models: address, key, dialect
 *   model     one upstream model under the name that clients and votes use
 *   router    a pool of models with an encoder, a policy and a price of its own
 */
export type Config = z.output<typeof CONFIG>;
export type ProviderConfig = z.output<typeof PROVIDER>;
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
});

/** US dollars for a million tokens. */
const PRICE = z.strictObject({
  input: z.number().min(0),
  output: z.number().min(0),
  cached_input: z.number().min(0).optional(),
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
  timeout_seconds: SECONDS.default(120),
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
    /** At most this share of requests, and of what is spent, goes into duels. */
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
  judge: JUDGE.optional(),
  /** Falls back to the best fixed model when votes say that routing is worse. */
  guard: z.boolean().default(true),
  seed: z.int().min(0).default(1),
});

const SERVER = z
  .strictObject({
    host: z.string().default("127.0.0.1"),
    port: z.int().min(0).max(65_535).default(8080),
    body_mb: z.number().positive().max(1024).default(20),
    drain_seconds: SECONDS.default(30),
    /** Origins of other sites' pages that may call the interface from a browser. */
    cors: z.array(z.url()).default([]),
  })
  .prefault({});

const STORE = z
  .strictObject({
    /** A PostgreSQL address for several nodes; else a SQLite file in the data folder. */
    url: z.string().min(1).optional(),
    /** Whether the text of prompts is kept; with a key it is encrypted. */
    prompts: z.boolean().default(false),
    key: z.string().optional(),
    retention_days: z.number().positive().optional(),
  })
  .prefault({});

export const CONFIG = z.strictObject({
  server: SERVER,
  store: STORE,
  providers: z.record(NAME, PROVIDER).default({}),
  models: z.record(NAME, MODEL).default({}),
  routers: z
    .record(NAME, ROUTER.prefault({}))
    .refine((routers) => Object.keys(routers).length > 0, "names no router")
    .prefault({ auto: {} }),
});
