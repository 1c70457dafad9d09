import type { Clock } from "../clock/clock.ts";
import { TAG } from "../codecs/items/reasoning.ts";
import type { DialectName, DialectUrls } from "../wire/dialect-names.ts";
import { type Edits, editObject } from "../wire/json.ts";
import { outgoing } from "./openai/outgoing.ts";
import { OpenAiStream } from "./openai/stream.ts";
import { type AnswerHeaders, UpstreamError } from "./upstream/error.ts";
import { NamedEvents } from "./upstream/named-events.ts";
import { translated, translationError } from "./upstream/translated.ts";
import { Translator } from "./upstream/translator.ts";
import { type Address, Transport, type TransportSettings } from "./upstream/transport.ts";
import {
  DIALECT_OF,
  type Endpoint,
  type HeldRequest,
  readAll,
  type Translation,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamRequest,
} from "./upstream/upstream.ts";
import { MissingStream, WholeAnswer } from "./upstream/whole-answer.ts";

export interface HostSettings extends TransportSettings {
  /** Dialects that the upstream speaks. Default: chat completions under `url`. */
  readonly dialects?: DialectUrls | undefined;
  /** Address that counts tokens. Default: `/count_tokens` below the address of Messages. */
  readonly countTokens?: string | undefined;
  /** Whether to request the usage of streams. Some upstreams always send it and refuse the request. */
  readonly requestsUsage?: boolean | undefined;
  /** Changes to the body of every request. */
  readonly edits?: Edits | undefined;
}

/**
 * An upstream on the network. Requests and answers keep their bytes if the upstream speaks the client's
 * dialect; otherwise they are translated to a dialect that it speaks.
 */
export class HttpUpstream implements Upstream {
  readonly name: string;
  readonly dialects: readonly DialectName[];
  readonly #transport: Transport;
  readonly #requestsUsage: boolean;
  readonly #clock: Clock;
  readonly #base: string;
  readonly #addresses = new Map<string, Address>();
  readonly #urls: DialectUrls;
  readonly #countTokens: string | undefined;
  readonly #edits: Edits | undefined;
  readonly #translator = new Translator();

  constructor(all: HostSettings, clock: Clock) {
    const { requestsUsage = true, dialects, countTokens, edits, ...settings } = all;
    this.#countTokens = countTokens;
    this.#edits = edits;
    this.name = settings.name;
    this.#requestsUsage = requestsUsage;
    this.#clock = clock;
    this.#base = settings.url.replace(/\/+$/, "");
    this.#urls = dialects ?? { chat: `${this.#base}/chat/completions` };
    this.dialects = PREFERENCES.filter((dialect) => this.#urls[dialect] !== undefined);
    this.#transport = new Transport(settings, clock);
  }

  call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { endpoint } = request;
    const client = DIALECT_OF[endpoint];
    const isPassed = !client || this.#urls[client] !== undefined;
    try {
      return isPassed
        ? this.#pass(request, endpoint, signal)
        : this.#translate(request, this.dialects[0]!, signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Sends the client's bytes, with signatures as the model wrote them. */
  #pass(request: UpstreamRequest, endpoint: Endpoint, signal: AbortSignal) {
    if (!hasTags(request)) return this.#send(request, endpoint, signal);
    return this.#translator.restore(request).then(
      (own) => this.#send(own, endpoint, signal),
      (error: unknown) => Promise.reject(translationError(this.name, error)),
    );
  }

  #send(request: UpstreamRequest, endpoint: Endpoint, signal: AbortSignal) {
    const { stream, headers } = request;
    const { body, hideUsage } = outgoing(this.name, request, this.#requestsUsage);
    const message = {
      to: this.#address(endpoint, request),
      body: this.#edited(body, endpoint),
      stream,
      headers: headersFor(endpoint, headers),
    };
    return this.#transport.send(message, this.#checking(endpoint, stream, hideUsage), signal);
  }

  /** Sends the request in a dialect that the upstream speaks. */
  async #translate(request: UpstreamRequest, dialect: DialectName, signal: AbortSignal) {
    const { stream } = request;
    const now = () => Math.floor(this.#clock.date() / 1000);
    const target = { name: this.name, dialect, requestsUsage: this.#requestsUsage, now };
    const { body, answer, adapted } = await translated(request, target, this.#translator);
    const endpoint = ENDPOINTS[dialect];
    const check = this.#checking(endpoint, stream, false);
    const message = {
      to: this.#address(endpoint, request),
      body: this.#edited(body, endpoint),
      stream,
      headers: headersFor(endpoint),
    };
    const sent = this.#transport.send(message, (headers) => answer(check(headers)), signal);
    return adapted.length > 0 ? sent.then((answered) => ({ ...answered, adapted })) : sent;
  }

  /** Returns a function that creates the check of an answer when its headers have arrived. */
  #checking(endpoint: Endpoint, stream: boolean, hideUsage: boolean) {
    return (answered: AnswerHeaders): Translation => {
      if (!stream) return new WholeAnswer(this.name, endpoint);
      const type = String(answered["content-type"] ?? "");
      if (/html/.test(type)) {
        throw new UpstreamError("broken", this.name, `sent ${type} instead of a stream`);
      }
      if (/json/.test(type)) return new MissingStream(this.name, endpoint);
      const { eventBytes } = this.#transport.limits;
      const dialect = DIALECT_OF[endpoint];
      return dialect === undefined || dialect === "chat"
        ? new OpenAiStream(this.name, hideUsage, eventBytes)
        : new NamedEvents(this.name, dialect, eventBytes);
    };
  }

  #edited(body: Uint8Array, endpoint: Endpoint): Uint8Array {
    if (!this.#edits) return body;
    const { set = {}, drop = [] } = this.#edits;
    // An address of its own that counts tokens does not name the model, so the body has to.
    const isNamed = endpoint !== "messages/count_tokens" || this.#countTokens === undefined;
    return editObject(body, { set, drop: isNamed ? drop : drop.filter((one) => one !== "model") });
  }

  /** The address of an endpoint. Some providers have the name of the model in it. */
  #address(endpoint: Endpoint | "models", request?: UpstreamRequest): Address {
    const found = this.#addresses.get(endpoint);
    if (found) return found;
    const template = this.#urlOf(endpoint);
    const url = template
      .replace("{model}", encodeURIComponent(request?.model ?? ""))
      .replace(/\{stream:(\w*)\|(\w*)\}/, (_, stream: string, whole: string) =>
        request?.stream ? stream : whole,
      );
    const address = this.#transport.address(url);
    if (url === template) this.#addresses.set(endpoint, address);
    return address;
  }

  #urlOf(endpoint: Endpoint | "models"): string {
    const { chat, messages } = this.#urls;
    if (endpoint === "messages/count_tokens" && messages !== undefined) {
      return this.#countTokens ?? `${messages}/count_tokens`;
    }
    const dialect = endpoint === "models" ? undefined : DIALECT_OF[endpoint];
    if (dialect) return this.#urls[dialect]!;
    if (endpoint === "models") return `${this.#base}/models`;
    if (chat !== undefined) return chat.replace(/chat\/completions/, endpoint);
    throw new UpstreamError(
      "request",
      this.name,
      `does not support the request: it has no ${endpoint}`,
      { hint: "use a model of another provider" },
    );
  }

  held({ method, path }: HeldRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { responses } = this.#urls;
    if (responses === undefined) {
      throw new UpstreamError("request", this.name, "does not speak the Responses API");
    }
    const to = this.#transport.address(`${responses}/${path}`);
    const translate = () => new WholeAnswer(this.name, "held");
    return this.#transport.send({ to, method, stream: false }, translate, signal);
  }

  async models(signal: AbortSignal): Promise<string[]> {
    const translate = () => new WholeAnswer(this.name, "models");
    const message = { to: this.#address("models"), stream: false };
    const answer = await this.#transport.send(message, translate, signal);
    const { data } = JSON.parse(Buffer.from(await readAll(answer)).toString()) as {
      data: readonly { id?: unknown }[];
    };
    return data.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
  }

  async close(): Promise<void> {
    await this.#transport.close();
    await this.#translator.close();
  }
}

/** Dialects in the order in which a translation chooses them, those that carry reasoning first. */
const PREFERENCES = ["responses", "messages", "chat"] as const;

const ENDPOINTS = {
  chat: "chat/completions",
  responses: "responses",
  messages: "messages",
} as const satisfies Record<DialectName, Endpoint>;

/** Whether a router has named the models of signatures in the request. Chat completions have none. */
function hasTags({ endpoint, body }: UpstreamRequest): boolean {
  if (endpoint !== "responses" && endpoint !== "messages") return false;
  return Buffer.from(body.buffer, body.byteOffset, body.length).includes(`"${TAG}.`);
}

/** Headers that a dialect needs, those of the client included. */
function headersFor(
  endpoint: Endpoint,
  own?: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  return endpoint.startsWith("messages") ? { ...ANTHROPIC_VERSION, ...own } : own;
}

const ANTHROPIC_VERSION = { "anthropic-version": "2023-06-01" };
