import Pool from "undici/lib/dispatcher/pool.js";
import type { Clock } from "../../clock/clock.ts";
import { UpstreamError } from "./error.ts";
import { Exchange, type Limits } from "./exchange.ts";
import type { Translation } from "./translation.ts";
import type { AnswerHeaders, UpstreamAnswer } from "./upstream.ts";

/** One host: its connections are kept and shared, one request at a time on each. */
export class Transport {
  readonly name: string;
  readonly limits: Limits;
  readonly #pool: Pool;
  readonly #basePath: string;
  readonly #headers: string[];
  readonly #clock: Clock;
  readonly #errorBody: (body: Uint8Array) => Uint8Array;

  /** `errorBody` puts an error of the host into OpenAI's shape. */
  constructor(settings: TransportSettings, clock: Clock, errorBody = asItIs) {
    const { origin, pathname } = new URL(settings.url);
    this.name = settings.name;
    this.limits = { ...LIMITS, ...settings.limits };
    this.#basePath = pathname.replace(/\/+$/, "");
    this.#headers = Object.entries({ ...STANDARD, ...settings.headers }).flat();
    this.#clock = clock;
    this.#errorBody = errorBody;
    this.#pool = new Pool(origin, {
      connections: this.limits.connections,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: this.limits.connectMs },
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The exchange has its own watch: it knows of the first byte and of slow clients.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  /** `translate` gets the head of a successful answer and says what becomes of the rest. */
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
        new UpstreamError("unreachable", name, `could not be asked: ${messageOf(error)}`, {
          cause: error,
        }),
      );
    }
    return exchange.answer;
  }

  /** Waits for what is under way. */
  async close(): Promise<void> {
    await this.#pool.close();
  }
}

export interface TransportSettings {
  readonly name: string;
  /** Up to and including /v1. */
  readonly url: string;
  /** The key among them; names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly limits?: Partial<Limits> | undefined;
}

interface Message {
  readonly path: string;
  /** None: it is a GET. */
  readonly body?: Uint8Array;
  readonly stream: boolean;
}

const STANDARD = { "content-type": "application/json", "user-agent": "joust" };

const LIMITS: Limits = {
  connections: 256,
  connectMs: 10_000,
  firstByteMs: 60_000,
  idleMs: 60_000,
  totalMs: 600_000,
  answerBytes: 64 * 2 ** 20,
  eventBytes: 4 * 2 ** 20,
};

/** Below what servers in front of the usual providers allow, above a pause for thought. */
const KEEP_ALIVE_MS = 30_000;

function asItIs(body: Uint8Array): Uint8Array {
  return body;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
