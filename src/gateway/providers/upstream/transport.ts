import type { Dispatcher } from "undici";
import Pool from "undici/lib/dispatcher/pool.js";
import { messageOf } from "../../../core/errors/joust-error.ts";
import type { Clock } from "../../clock/clock.ts";
import { rememberSecrets, secretsIn } from "../../wire/secrets.ts";
import { type AnswerHeaders, UpstreamError } from "./error.ts";
import { Exchange, type Limits } from "./exchange.ts";
import { type Proxies, proxyAgent } from "./proxy.ts";
import type { Translation, UpstreamAnswer } from "./upstream.ts";

/** Connections to one host, which are kept alive and shared. Each carries one request at a time. */
export class Transport {
  readonly name: string;
  readonly limits: Limits;
  readonly #pools = new Map<string, Dispatcher>();
  readonly #sign: Sign | undefined;
  readonly #proxies: Proxies | undefined;
  readonly #common: Readonly<Record<string, string>>;
  readonly #headers: string[];
  readonly #clock: Clock;

  constructor(settings: TransportSettings, clock: Clock) {
    this.name = settings.name;
    this.limits = { ...LIMITS, ...settings.limits };
    this.#common = { ...STANDARD, ...settings.headers };
    this.#headers = Object.entries(this.#common).flat();
    this.#clock = clock;
    this.#sign = settings.sign;
    this.#proxies = settings.proxies;
    rememberSecrets(secretsIn(settings.headers ?? {}));
  }

  /** The address of an endpoint, with the connections to its host. */
  address(url: string): Address {
    const { origin, pathname, search } = new URL(url);
    const pool = this.#pools.get(origin) ?? this.#newPool(origin);
    this.#pools.set(origin, pool);
    return { pool, origin, path: `${pathname}${search}` };
  }

  #newPool(origin: string): Dispatcher {
    const options: Pool.Options = {
      // There is no limit: with one, a request could wait for a connection that a slow client
      // occupies.
      connections: null,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: this.limits.connectMs },
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The exchange has its own time limits, which consider the first byte and slow clients.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    return this.#proxies ? proxyAgent(this.#proxies, options) : new Pool(origin, options);
  }

  /** `translate` receives the headers of a successful response and returns its translation. */
  send(
    message: Message,
    translate: (headers: AnswerHeaders) => Translation,
    signal: AbortSignal,
  ): Promise<UpstreamAnswer> {
    const { name, limits } = this;
    const exchange = new Exchange({
      name,
      limits,
      translate,
      signal,
      stream: message.stream,
      sent: message.body,
      clock: this.#clock,
    });
    if (signal.aborted) return exchange.answer;
    if (this.#sign) this.#sendSigned(message, this.#sign, exchange);
    else {
      const { headers } = message;
      const own = headers ? Object.entries({ ...this.#common, ...headers }).flat() : this.#headers;
      this.#dispatch(message, own, exchange);
    }
    return exchange.answer;
  }

  /** Sends a request whose headers depend on its bytes or on a token that expires. */
  #sendSigned(message: Message, sign: Sign, exchange: Exchange): void {
    const { to, body } = message;
    const headers = { ...this.#common, ...message.headers };
    const request = { url: `${to.origin}${to.path}`, body, headers };
    sign({ ...request, method: methodOf(message) }).then(
      (signed) =>
        this.#dispatch(message, Object.entries({ ...headers, ...signed }).flat(), exchange),
      (error: unknown) =>
        exchange.fail(
          new UpstreamError("unreachable", this.name, `was not called: ${messageOf(error)}`, {
            cause: error,
            hint: "check the credentials of this provider",
          }),
        ),
    );
  }

  #dispatch(message: Message, headers: string[], exchange: Exchange): void {
    const { to, body } = message;
    const { pool, origin, path } = to;
    try {
      pool.dispatch(
        // Connections carry one request at a time, so undici need not look for the next one when headers arrive.
        { method: methodOf(message), origin, path, headers, body: body ?? null, blocking: false },
        exchange,
      );
    } catch (error) {
      exchange.fail(
        new UpstreamError("unreachable", this.name, `could not be called: ${messageOf(error)}`, {
          cause: error,
        }),
      );
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }
}

export interface TransportSettings {
  readonly name: string;
  /** Address up to and including /v1. */
  readonly url: string;
  /** Headers of each request, the key included; names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** Returns the headers of a single request, such as its signature. */
  readonly sign?: Sign | undefined;
  readonly proxies?: Proxies | undefined;
}

/** Returns headers that are different for each request. */
export type Sign = (request: SignedRequest) => Promise<Readonly<Record<string, string>>>;

/** A request as its signature covers it. */
interface SignedRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly body: Uint8Array | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Path of an endpoint, and the connections to its host. */
export interface Address {
  readonly pool: Dispatcher;
  readonly origin: string;
  readonly path: string;
}

interface Message {
  readonly to: Address;
  /** Default: POST with a body, otherwise GET. */
  readonly method?: "GET" | "POST" | "DELETE";
  /** Body of a POST request; without one the request is a GET. */
  readonly body?: Uint8Array;
  readonly stream: boolean;
  /** Headers of this request, which take precedence over those of all requests. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

function methodOf({ method, body }: Message): "GET" | "POST" | "DELETE" {
  return method ?? (body ? "POST" : "GET");
}

const STANDARD = { "content-type": "application/json", "user-agent": "joust" };

const LIMITS: Limits = {
  connectMs: 10_000,
  idleMs: 60_000,
  totalMs: 600_000,
  answerBytes: 64 * 2 ** 20,
  eventBytes: 4 * 2 ** 20,
};

/**
 * Time for which an idle connection is kept: shorter than the limits of the usual
 * providers' servers, longer than the pauses of a conversation.
 */
const KEEP_ALIVE_MS = 30_000;
