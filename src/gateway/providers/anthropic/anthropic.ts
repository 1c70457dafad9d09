import type { Clock } from "../../clock/clock.ts";
import { isRecord, type Json } from "../../wire/json.ts";
import { UpstreamError } from "../upstream/error.ts";
import { Transport, type TransportSettings } from "../upstream/transport.ts";
import type {
  Translation,
  Upstream,
  UpstreamAnswer,
  UpstreamRequest,
} from "../upstream/upstream.ts";
import { AnthropicAnswer, errorBody } from "./answer.ts";
import { Unsupported } from "./conversation.ts";
import { messagesRequest } from "./request.ts";
import { AnthropicStream } from "./stream.ts";

/** Anthropic's API. Requests, answers, streams and errors are translated from and to OpenAI's. */
export class AnthropicUpstream implements Upstream {
  readonly name: string;
  readonly #transport: Transport;
  readonly #clock: Clock;

  /** `url` ends in /v1, and the headers contain the key as x-api-key. */
  constructor(settings: TransportSettings, clock: Clock) {
    const headers = { "anthropic-version": "2023-06-01", ...settings.headers };
    this.name = settings.name;
    this.#clock = clock;
    this.#transport = new Transport({ ...settings, headers }, clock, errorBody);
  }

  async call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { body, answerTool, wantsUsage } = this.#translate(request);
    const upstream = this.name;
    const created = Math.floor(this.#clock.date() / 1000);
    const maxEventBytes = this.#transport.limits.eventBytes;
    const translate = (): Translation =>
      request.stream
        ? new AnthropicStream({ upstream, answerTool, wantsUsage, created, maxEventBytes })
        : new AnthropicAnswer(upstream, answerTool, created);
    const bytes = Buffer.from(JSON.stringify(body));
    const message = { path: "messages", body: bytes, stream: request.stream };
    return this.#transport.send(message, translate, signal);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #translate({ endpoint, body, model }: UpstreamRequest) {
    try {
      if (endpoint !== "chat/completions")
        throw new Unsupported(`it has no ${endpoint}`, "use a model of another provider");
      return messagesRequest(parse(body), model, maxTokensOf(model));
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      const problem = `does not support the request: ${error.message}`;
      throw new UpstreamError("request", this.name, problem, { hint: error.hint });
    }
  }
}

function parse(body: Uint8Array): Json {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString());
  } catch (error) {
    throw new Unsupported(`the request is not JSON: ${error}`);
  }
  if (!isRecord(value)) throw new Unsupported("the request is not a JSON object");
  return value;
}

/** Default of max_tokens, which Anthropic requires and OpenAI's clients seldom send. */
function maxTokensOf(model: string): number {
  if (/claude-(2|instant|3-(opus|sonnet|haiku))/.test(model)) return 4096;
  return /claude-3-5/.test(model) ? 8192 : 16_384;
}
