import type { Clock } from "../../clock/clock.ts";
import {
  type Edits,
  editMembers,
  editObject,
  JsonError,
  type Members,
  scanObject,
} from "../../wire/json.ts";
import { type AnswerHeaders, UpstreamError } from "../upstream/error.ts";
import { Transport, type TransportSettings } from "../upstream/transport.ts";
import {
  readAll,
  type Translation,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamRequest,
  WholeAnswer,
} from "../upstream/upstream.ts";
import { OpenAiStream } from "./stream.ts";

export interface OpenAiSettings extends TransportSettings {
  /** Whether to request the usage of streams. Some hosts always send it and refuse the request. */
  readonly asksUsage?: boolean | undefined;
}

/** A host with OpenAI's API. Requests and answers keep their bytes. */
export class OpenAiUpstream implements Upstream {
  readonly name: string;
  readonly #transport: Transport;
  readonly #asksUsage: boolean;

  constructor({ asksUsage = true, ...settings }: OpenAiSettings, clock: Clock) {
    this.name = settings.name;
    this.#asksUsage = asksUsage;
    this.#transport = new Transport(settings, clock);
  }

  async call(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { stream, endpoint: path } = request;
    const { body, hideUsage } = outgoing(this.name, request, this.#asksUsage);
    const { eventBytes } = this.#transport.limits;
    const translate = (answered: AnswerHeaders): Translation => {
      if (!stream) return new WholeAnswer(this.name);
      const type = String(answered["content-type"] ?? "");
      if (/json|html/.test(type)) {
        throw new UpstreamError("broken", this.name, `sent ${type} instead of a stream`);
      }
      return new OpenAiStream(this.name, hideUsage, eventBytes);
    };
    return this.#transport.send({ path, body, stream }, translate, signal);
  }

  async models(signal: AbortSignal): Promise<string[]> {
    const translate = () => new WholeAnswer(this.name);
    const answer = await this.#transport.send({ path: "models", stream: false }, translate, signal);
    const { data } = JSON.parse(Buffer.from(await readAll(answer)).toString()) as {
      data?: unknown;
    };
    if (!Array.isArray(data)) {
      throw new UpstreamError("broken", this.name, "sent no list of models");
    }
    return data.flatMap(({ id }) => (typeof id === "string" ? [id] : []));
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}

interface Outgoing {
  readonly body: Uint8Array;
  /** Whether only the gateway requested usage, so that its event is hidden from the client. */
  readonly hideUsage: boolean;
}

/**
 * Prepares the client's bytes for an upstream: sets the upstream's name of the model and removes
 * `joust`. A stream has no usage, and so no known cost, unless it is requested; it is added if
 * the client did not request it.
 */
export function outgoing(upstream: string, request: UpstreamRequest, askUsage: boolean): Outgoing {
  try {
    const members = request.members ?? scanObject(request.body);
    const set: Record<string, string> = { model: JSON.stringify(request.model) };
    const options = request.stream && askUsage ? withUsage(members) : undefined;
    if (options !== undefined) set.stream_options = options;
    const edits: Edits = { set, drop: ["joust"] };
    return { body: editMembers(members, edits), hideUsage: options !== undefined };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new UpstreamError("request", upstream, `was not called: ${error.message}`);
  }
}

/** `stream_options` that request usage, or undefined if the client requests it. */
function withUsage(members: Members): string | undefined {
  const options = members.value("stream_options");
  if (typeof options !== "object" || options === null) return '{"include_usage":true}';
  if ("include_usage" in options && options.include_usage === true) return undefined;
  const { valueStart, valueEnd } = members.find("stream_options")!;
  const bytes = members.json.subarray(valueStart, valueEnd);
  return Buffer.from(editObject(bytes, { set: { include_usage: "true" } })).toString();
}
