import type { Clock } from "../../clock/clock.ts";
import { UpstreamError } from "../upstream/error.ts";
import { type Translation, WholeAnswer } from "../upstream/translation.ts";
import { Transport, type TransportSettings } from "../upstream/transport.ts";
import {
  type AnswerHeaders,
  readAll,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamRequest,
} from "../upstream/upstream.ts";
import { outgoing } from "./request.ts";
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

  /** Names of the host's models. */
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
