import { isIP } from "node:net";
import { z } from "zod";
import { isMemberOfAll } from "../../api/configuration.ts";
import { SCOPES } from "../../api/scopes.ts";
import { HEADERS, HTTP_URL, LABEL } from "./provider-fields.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Schema of joust.yaml. docs/configuration.md describes each member.
 *
 *   provider  a service that serves models: address, key and dialect
 *   model     an upstream model under the name that clients and votes use
 *   router    a pool of models with an encoder, a policy and a trade-off of its own
 */
export type Config = z.output<typeof CONFIG>;
export type ModelConfig = z.output<typeof MODEL>;
export type RouterConfig = z.output<typeof ROUTER>;

const NAME = z
  .string()
  .regex(/^[\w.:/@-]+$/, "has a character other than letters, digits and . _ : / @ -")
  .refine((name) => !isMemberOfAll(name), "is reserved: choose another name");
const SECONDS = z.number().positive().max(86_400);
const SHARE = z.number().min(0).max(1);
const FILE = z.string().min(1);

const SETTING = z
  .string()
  .regex(/^[\w.-]+$/, "has a character other than letters, digits and . _ -");

/** Ways in which a provider identifies the gateway. */
export const AUTH_KINDS = [
  "bearer",
  "x-api-key",
  "azure",
  "sigv4",
  "google-oauth",
  "none",
] as const;

const PROVIDER = z.strictObject({
  /** Name of a known provider whose addresses and dialects this one has. Default: the name of the entry. */
  kind: NAME.optional(),
  url: HTTP_URL.optional(),
  key: z.string().optional(),
  dialect: z.enum(["openai", "anthropic"]).optional(),
  /** Dialects that the provider speaks, with the address of the endpoint of each. */
  dialects: z
    .strictObject({
      chat: HTTP_URL.optional(),
      responses: HTTP_URL.optional(),
      messages: HTTP_URL.optional(),
    })
    .refine((urls) => Object.values(urls).some(Boolean), "names no dialect")
    .optional(),
  auth: z.enum(AUTH_KINDS).optional(),
  /** Settings that addresses of known providers contain. */
  region: LABEL.optional(),
  project: LABEL.optional(),
  resource: LABEL.optional(),
  api_version: SETTING.optional(),
  /** Credentials of AWS, and the service in the scope of its signatures. */
  access_key: z.string().optional(),
  secret_key: z.string().optional(),
  session_token: z.string().optional(),
  service: SETTING.optional(),
  /** File with the credentials of a Google account, or `default` for the account that google-auth-library finds. */
  credentials: FILE.optional(),
  headers: HEADERS.default({}),
  /** Whether to send `stream_options`, which some providers refuse. */
  request_usage: z.boolean().optional(),
  /** Name of `request_usage` in version 0.1. */
  asks_usage: z.boolean().optional(),
});
export type ProviderConfig = z.output<typeof PROVIDER>;

/** US dollars per million tokens. */
const PRICE = z.strictObject({
  input: z.number().min(0),
  output: z.number().min(0),
  cached_input: z.number().min(0).optional(),
  cache_write: z.number().min(0).optional(),
  cache_write_1h: z.number().min(0).optional(),
});

/** An endpoint or key behind a model that has several. */
const DEPLOYMENT = z.strictObject({
  /** Name in metrics. Default: the provider, with a number if there are several. */
  name: NAME.optional(),
  provider: NAME,
  /** Name of the model at the provider. Default: the model's. */
  model: z.string().min(1).optional(),
  /** Key instead of the provider's. */
  key: z.string().optional(),
  weight: z.number().positive().default(1),
  /** Requests and tokens per minute. */
  rpm: z.number().positive().optional(),
  tpm: z.number().positive().optional(),
});

const MODEL = z.strictObject({
  /** Whether the model answers requests. A disabled model keeps its place in the pools and what was learned about it. */
  enabled: z.boolean().default(true),
  provider: NAME.optional(),
  /** Endpoints or keys that serve the model. Instead of `provider`. */
  deployments: z.array(DEPLOYMENT).min(1).optional(),
  /** Name of the model at the provider. Default: the name of the entry. */
  model: z.string().min(1).optional(),
  price: PRICE.optional(),
  /** Time for which the provider caches the beginning of a prompt after its last use. */
  cache_seconds: SECONDS.optional(),
  /** Tokens of the shortest beginning that the provider caches. */
  cache_tokens: z.int().min(0).optional(),
  /** Tokens of prompt and answer together. */
  context: z.int().positive().optional(),
  vision: z.boolean().optional(),
  tools: z.boolean().optional(),
  json_schema: z.boolean().optional(),
  /** Tokens of the longest answer. */
  max_answer: z.int().positive().optional(),
  /** Whether the model accepts a temperature. */
  temperature: z.boolean().optional(),
  /** Parameters that the model refuses, besides those that are known or learned from its refusals. */
  parameters: z
    .strictObject({
      rename: z.record(z.string(), z.string().min(1)).default({}),
      drop: z.array(z.string().min(1)).default([]),
      max: z.record(z.string(), z.number()).default({}),
    })
    .optional(),
  timeout_seconds: SECONDS.default(600),
  first_byte_seconds: SECONDS.optional(),
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

/** When there are two answers to vote on. By default only if the request has `joust.duel`. */
const DUELS = z
  .strictObject({
    /**
     * Duels that the client did not request, whose second answer it may fetch later. false: none;
     * auto: if the policy chooses to; true: whenever it is possible.
     */
    mode: z.union([z.boolean(), z.literal("auto")]).default(false),
    on_request: z.boolean().default(true),
    /** Largest share of requests and of cost for duels that the client did not request. */
    share: SHARE.default(0.2),
    spend: SHARE.default(0.3),
    /** Time that one answer waits for the other. */
    grace_seconds: SECONDS.default(10),
  })
  .prefault({});

/** A model that votes on a share of the answers. */
const JUDGE = z.strictObject({
  model: NAME,
  share: SHARE.default(0.05),
  /**
   * Weight of a vote of the judge. The learner estimates how far its votes follow those of people.
   */
  weight: SHARE.default(1),
  /** Whether the judge also compares what two models would do in requests with tools. */
  tools: z.boolean().default(false),
  /** US dollars per day and node for comparisons in mode observe. Default: no limit. */
  budget: z.number().positive().optional(),
});

/** Implicit signals that are learned from. */
const SIGNALS = z.strictObject({
  /** The same conversation was sent again. */
  regenerated: z.boolean().default(false),
  /** The last message was changed and sent again. */
  edited: z.boolean().default(false),
  /** The next message asks the same in other words. */
  rephrased: z.boolean().default(false),
  /** The answer broke off or is empty. */
  no_answer: z.boolean().default(false),
  /** The answer does not fit the JSON schema that the request asks for. */
  schema_failed: z.boolean().default(false),
  /** The result of a tool that the answer called is an error. */
  tool_failed: z.boolean().default(false),
});

const ROUTER = z.strictObject({
  models: z.array(NAME).min(1).optional(),
  encoder: z.string().min(1).optional(),
  /** Bundle of `joust fit`, which contains its own encoder. */
  bundle: FILE.optional(),
  /** CSV file (model,category,perf,cost) with scores known before the first vote. */
  scores: FILE.optional(),
  policy: POLICY,
  /** Other names of the router. A star stands for any characters. */
  aliases: z
    .array(
      z
        .string()
        .regex(/^[\w.:/@*-]+$/, "has a character other than letters, digits and . _ : / @ - *"),
    )
    .default([]),
  /** 0 for quality alone, 10 for the cheapest model. */
  cost_quality_tradeoff: z.number().min(0).max(10).default(3),
  /** Mean cost per request in US dollars, kept by avoiding expensive models. */
  budget: z.number().positive().optional(),
  /** observe: log the policy's choice but answer with `fallback`; bypass: only answer with it. */
  mode: z.enum(["apply", "observe", "bypass"]).default("apply"),
  fallback: NAME.optional(),
  duels: DUELS,
  /** Share of random choices, which allow other policies to be evaluated on the log. */
  explore: SHARE.default(0.02),
  /**
   * Gain in utility, after costs, that another model must promise to take over a session.
   * The costs include reading the conversation again.
   */
  session_margin: SHARE.default(0.01),
  /** Whether the weight of a vote depends on the voter's earlier votes. */
  weigh_voters: z.boolean().default(false),
  judge: JUDGE.optional(),
  signals: SIGNALS.prefault({}),
  /** Whether requests are sent as they are, also to a model that refuses one of their parameters. */
  strict: z.boolean().default(false),
  /** Whether to serve the best fixed model while votes show that routing is worse. */
  guard: z.boolean().default(true),
  seed: z.int().min(0).default(1),
});

/** A metric that clients send as feedback. Its values become ratings from -1 (worst) to 1 (best). */
const METRIC = z
  .strictObject({
    type: z.enum(["boolean", "number", "rating"]),
    /**
     * Range of the values. A value outside of it counts as the end of the range for type
     * number, and is refused for type rating.
     */
    min: z.number().optional(),
    max: z.number().optional(),
    direction: z.enum(["higher", "lower"]).default("higher"),
    /** session: the value is about all answers of the session. */
    level: z.enum(["request", "session"]).default("request"),
    weight: SHARE.default(0.5),
  })
  .refine(({ type, min, max }) => type === "boolean" || (min !== undefined && max !== undefined), {
    error: "needs min and max",
  })
  .refine(({ type, min, max }) => type !== "boolean" || (min ?? max) === undefined, {
    error: "is boolean, which has no min and max",
  })
  .refine(
    ({ type, min, max }) =>
      type === "boolean" || min === undefined || max === undefined || min < max,
    { error: "needs a min below its max" },
  );

/** The origin of an address, in the form in which browsers send it. */
function originOf(address: string): string {
  const { origin } = new URL(address);
  return origin === "null" ? address : origin;
}

/** Whether a text is an IP address or a network like 10.0.0.0/8. */
function isNetwork(text: string): boolean {
  const [ip = "", bits = "1", ...rest] = text.split("/");
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(ip)]!;
  return /^\d+$/.test(bits) && Number(bits) > 0 && Number(bits) <= most && rest.length === 0;
}

/** A part of a URL without its escapes, or undefined if one of them is invalid. */
export function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

const LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;

const SERVER = z
  .strictObject({
    host: z.string().default("127.0.0.1"),
    port: z.int().min(0).max(65_535).default(8080),
    body_mb: z.number().positive().max(1024).default(20),
    /** Bytes of all requests that are being received or answered. */
    buffer_mb: z.number().positive().default(256),
    /** Time in which a client must send a request. */
    request_seconds: SECONDS.default(60),
    /** Time after which a connection without a request is closed. */
    idle_seconds: SECONDS.default(75),
    /** Time in which a client must read some of the bytes that wait for it. */
    write_seconds: SECONDS.default(20),
    /** Largest number of connections. Default: half of the file descriptors of the process, at most 10,000. */
    connections: z.int().positive().optional(),
    /** Largest number of connections from one address. Default: half of `connections`. */
    connections_per_address: z.int().positive().optional(),
    drain_seconds: SECONDS.default(30),
    /** Concurrent requests for each key without a limit of its own. */
    concurrent: z.int().positive().default(1000),
    /** Time between SIGTERM and the end of listening, while /readyz answers 503. */
    shutdown_delay_seconds: z.number().min(0).max(600).default(0),
    /**
     * Whether keys with a budget may use models without a price: `refuse`, or `estimate` their
     * cost.
     */
    unpriced: z.enum(["refuse", "estimate"]).default("refuse"),
    /** Requests per minute for each key without a limit of its own. */
    rate: z.number().positive().optional(),
    /** Hours until a session of the page ends and a key must be entered again. */
    session_hours: z.number().positive().max(168).default(12),
    /** Origins of web pages on other sites that may call the gateway. */
    cors: z.array(z.url().transform(originOf)).default([]),
    /** Addresses or networks of proxies whose X-Forwarded-For names the client. */
    trusted_proxies: z
      .array(
        z.string().refine(isNetwork, {
          error: ({ input }) =>
            `is ${input}, not an address like 10.0.0.1 or a network like 10.0.0.0/8`,
        }),
      )
      .default([]),
    log: z.enum(LEVELS).optional(),
  })
  .prefault({});

const STORE = z
  .strictObject({
    /** PostgreSQL address. Default: a SQLite file in the data folder. */
    url: z
      .string()
      .regex(/^postgres(ql)?:\/\//, "is not an address like postgres://user:password@host/name")
      .refine((url) => decoded(url) !== undefined, "has a % that is no escape: write %25")
      .optional(),
    prompts: z.boolean().default(false),
    key: z.string().optional(),
    /** Age in days at which decisions are deleted. Default: never. */
    retention_days: z.number().positive().optional(),
    /** Share of the ordinary decisions that are stored. Duels, random choices and decisions with a vote or an id of the client are always stored. */
    sample: z.number().gt(0).max(1).default(1),
    /** Lifetime of vote tokens in days. */
    vote_token_days: z.number().positive().max(365).default(30),
  })
  .prefault({});

/** An API key in the file. `joust keys` creates others, of which only the hash is stored. */
const KEY = z.strictObject({
  key: z.string().min(16, "is shorter than 16 characters"),
  scopes: z.array(z.enum(SCOPES)).min(1).default(["route", "vote"]),
  /** US dollars per calendar month. */
  budget: z.number().positive().optional(),
  /** Requests per minute. */
  rate: z.number().positive().optional(),
  /** Concurrent requests. */
  concurrent: z.int().positive().optional(),
  /** `duels.mode` for the requests of this key. */
  duels: z.union([z.boolean(), z.literal("auto")]).optional(),
  /** Models that may answer, and routers that may be named. Default: all. */
  models: z.array(NAME).min(1).optional(),
  routers: z.array(NAME).min(1).optional(),
});

const SANDBOX_OPTIONS = z
  .strictObject({
    /** Pace of the answers; 1 is the pace of real models. */
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
  metrics: z.record(NAME, METRIC).default({}),
  sandbox: SANDBOX_OPTIONS,
});
