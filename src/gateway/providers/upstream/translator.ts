import { Thread } from "../../../core/threads/thread.ts";
import { Untranslatable } from "../../codecs/items/unsupported.ts";
import type { Route } from "../../codecs/translate-request.ts";
import { LARGE_BODY, Members } from "../../wire/json.ts";
import type { TranslateMethods } from "./translate.worker.ts";
import type { UpstreamRequest } from "./upstream.ts";
import { restoredRequest, type WrittenRequest, writtenRequest } from "./written-request.ts";

/** Translates requests to the dialects of upstreams, large ones in a thread of its own. */
export class Translator {
  #thread: Thread<TranslateMethods> | undefined;

  /** Throws Untranslatable if the upstream's dialect has no place for a part of the request. */
  async translate(body: Uint8Array, route: Route): Promise<WrittenRequest> {
    if (body.length < LARGE_BODY) return writtenRequest(body, route);
    // The bytes are copied, because other attempts need them too.
    const { json, open, close, spans, ...rest } = await this.#methods.translate(body, route);
    return { ...rest, members: new Members(json, open, close, spans) };
  }

  /**
   * Restores the signatures of the model that is called, in a request in which a router has tagged
   * signatures with their models.
   */
  async restore(request: UpstreamRequest): Promise<UpstreamRequest> {
    const { endpoint, body, origin = request.model } = request;
    if (endpoint !== "responses" && endpoint !== "messages") return request;
    if (body.length < LARGE_BODY) {
      const members = restoredRequest(body, endpoint, origin);
      return { ...request, body: members.json, members };
    }
    const found = await this.#methods.restore(body, endpoint, origin);
    const members = new Members(found.json, found.open, found.close, found.spans);
    return { ...request, body: members.json, members };
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }

  get #methods(): Thread<TranslateMethods>["methods"] {
    if (!this.#thread || this.#thread.isEnded) {
      const file = new URL("./translate.worker.ts", import.meta.url);
      this.#thread = new Thread(file, { errors: [Untranslatable] });
    }
    return this.#thread.methods;
  }
}
