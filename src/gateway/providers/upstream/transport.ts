import Pool from "undici/lib/dispatcher/pool.js";
import { messageOf } from "../../../core/errors/joust-error.ts";
import type { Clock } from "../../clock/clock.ts";
import { rememberSecrets, secretsIn } from "../../wire/secrets.ts";
import { type AnswerHeaders, UpstreamError } from "./error.ts";
import { Exchange, type Limits } from "./exchange.ts";
import type { Translation, UpstreamAnswer } from "./upstream.ts";

/** Connections to one host, which are kept alive and shared. Each carries one request at a time. */
export class Transport {
  readonly name: string;
  readonly limits: Limits;
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #headers: string[];
  readonly #clock: Clock;
  readonly #errorBody: (body: Uint8Array) => Uint8Array;

  /** `errorBody` converts an error of the host to OpenAI's format. */
  constructor(settings: TransportSettings, clock: Clock, errorBody = asItIs) {
    const { origin, pathname } = new URL(settings.url);
    this.name = settings.name;
    this.limits = { ...LIMITS, ...settings.limits };
    this.#basePath = pathname.replace(/\/+$/, "");
    this.#headers = Object.entries({ ...STANDARD, ...settings.headers }).flat();
    this.#clock = clock;
    rememberSecrets(secretsIn(settings.headers ?? {}));
    this.#errorBody = errorBody;
    this.#pool = new Pool(origin, {
      // No limit: a request that waits for a connection would wait for slow readers of others.
      connections: null,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: this.limits.connectMs },
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The exchange has its own time limits, which consider the first byte and slow clients.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
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
      clock: this.#clock,
      errorBody: this.#errorBody,
    });
    if (signal.aborted) return exchange.answer;
    try {
      this.#pool.dispatch(
        {
          method: message.body ? "POST" : "GET",
          path: `${this.#basePath}/${message.path}`,
          headers: this.#headers,
          body: message.body ?? null,
        },
        exchange,
      );
    } catch (error) {
      exchange.fail(
        new UpstreamError("unreachable", name, `could not be called: ${messageOf(error)}`, {
          cause: error,
        }),
      );
    }
    return exchange.answer;
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

export interface TransportSettings {
  readonly name: string;
  /** Address up to and including /v1. */
  readonly url: string;
  /** Headers of each request, the key included; names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly limits?: Partial<Limits> | undefined;
}

interface Message {
  readonly path: string;
  /** Without a body the request is a GET. */
  readonly body?: Uint8Array;
  readonly stream: boolean;
}

const STANDARD = { "content-type": "application/json", "user-agent": "joust" };

const LIMITS: Limits = {
  connectMs: 10_000,
  idleMs: 60_000,
  totalMs: 600_000,
  answerBytes: 64 * 2 ** 20,
  eventBytes: 4 * 2 ** 20,
};

/** Below the limits of the usual providers' servers, above the pauses of a conversation. */
const KEEP_ALIVE_MS = 30_000;

function asItIs(body: Uint8Array): Uint8Array {
  return body;
}
