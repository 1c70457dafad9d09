import {
  DeletedResponse,
  InputItems,
  InputItemsQuery,
  ResponseEvent,
  ResponseObject,
  ResponseParams,
  ResponseQuery,
} from "../../api/responses.ts";
import { responsesCodec } from "../codecs/responses/codec.ts";
import { writeItem } from "../codecs/responses/items.ts";
import { replayResponse } from "../codecs/responses/replay.ts";
import { StoredConversation } from "../log/conversation.ts";
import type { HeldResponse, StoredResponses } from "../log/stored-responses.ts";
import { readAll } from "../providers/upstream/upstream.ts";
import type { Serving } from "../routing/serving.ts";
import { HttpError } from "../wire/http-error.ts";
import { isRecord, type Json } from "../wire/json.ts";
import { type App, contract } from "./app.ts";

export interface ResponseParts {
  readonly responses: StoredResponses;
  readonly serving: () => Serving;
}

/** Adds the endpoints about responses that the gateway or an upstream keeps. */
export function addResponseRoutes(app: App, parts: ResponseParts): void {
  const { responses } = parts;
  const common = {
    scope: "route",
    params: ResponseParams,
    dialect: "responses",
    // Without an id the path is that of another endpoint.
    errors: [400, 405, 413, 502, 503, 504],
  } as const;
  const find = async (id: string, owner: string | undefined) => {
    const found = await responses.read(id, owner);
    if (!found) throw noResponse(id, responses.isAllowed);
    return found;
  };
  app.get(
    "/v1/responses/:id",
    contract({
      summary: "Shows a stored response, or streams it.",
      response: ResponseObject,
      event: ResponseEvent,
      querystring: ResponseQuery,
      ...common,
    }),
    async ({ caller, params: { id }, query }, reply) => {
      const found = await find(id, caller.owner);
      if (query.stream === "true") {
        if (found.kind === "held") throw notStreamed();
        const events = replayResponse(found.response, query.starting_after);
        return reply.type("text/event-stream").send(events as never);
      }
      const response =
        found.kind === "kept" ? found.response : await callUpstream(parts, found, "GET");
      return { ...response, id } as never;
    },
  );
  app.delete(
    "/v1/responses/:id",
    contract({ summary: "Deletes a stored response.", response: DeletedResponse, ...common }),
    async ({ caller, params: { id } }) => {
      const found = await find(id, caller.owner);
      if (found.kind === "held") await callUpstream(parts, found, "DELETE");
      await responses.delete(id);
      return { id, object: "response" as const, deleted: true as const };
    },
  );
  app.post(
    "/v1/responses/:id/cancel",
    contract({
      summary: "Cancels a response that runs in the background.",
      response: ResponseObject,
      ...common,
    }),
    async ({ caller, params: { id } }) => {
      const found = await find(id, caller.owner);
      if (found.kind === "held") {
        return { ...(await callUpstream(parts, found, "POST", "/cancel")), id } as never;
      }
      throw new HttpError(400, "the response does not run in the background", {
        hint: "only responses that were created with background: true can be cancelled",
        code: "not_in_background",
        param: "id",
      });
    },
  );
  app.get(
    "/v1/responses/:id/input_items",
    contract({
      summary: "Lists the items of the conversation before a stored response.",
      response: InputItems,
      querystring: InputItemsQuery,
      ...common,
    }),
    async ({ caller, params: { id }, query }) => {
      const found = await find(id, caller.owner);
      if (found.kind === "kept") {
        const limit = Math.floor(parts.serving().config.server.body_mb * 2 ** 20);
        const input = await new StoredConversation(responses, caller.owner, limit).before(id);
        return inputItems(id, input, query);
      }
      const { limit, order, after } = query;
      const search = new URLSearchParams({ limit: String(limit), order, ...(after && { after }) });
      return (await callUpstream(parts, found, "GET", `/input_items?${search}`)) as never;
    },
  );
}

/** Calls the upstream that keeps a response. */
async function callUpstream(
  { serving }: ResponseParts,
  { model, id }: HeldResponse,
  method: "GET" | "POST" | "DELETE",
  rest = "",
): Promise<Json> {
  const served = serving().models.get(model);
  if (!served) {
    throw new HttpError(404, `the model \`${model}\` that keeps the response is not served`, {
      code: "model_not_found",
      param: "id",
    });
  }
  if (/^\.*$/.test(id)) {
    throw new HttpError(502, "the provider returned an invalid id for the response", {
      code: "upstream_broke_off",
      param: "id",
    });
  }
  const path = `${encodeURIComponent(id)}${rest}`;
  const answer = await served.held({ method, path }, AbortSignal.timeout(CALL_MS));
  return JSON.parse(Buffer.from(await readAll(answer)).toString());
}

const CALL_MS = 60_000;

interface Page {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly after?: string | undefined;
}

/** A page of the items, each with an id. */
function inputItems(response: string, input: readonly unknown[], { limit, order, after }: Page) {
  const { items } = responsesCodec.parseRequest({ input });
  const written = items.flatMap((item, i) => {
    const wire = writeItem(item);
    return wire ? [{ ...wire, id: idOf(input[i], response, i), type: String(wire.type) }] : [];
  });
  const ordered = order === "asc" ? written : written.toReversed();
  const from = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  const data = ordered.slice(from, from + limit);
  return {
    object: "list" as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + limit < ordered.length,
  };
}

function idOf(item: unknown, response: string, index: number): string {
  const id = isRecord(item) ? item.id : undefined;
  return typeof id === "string" ? id : `item_${response.replace(/^resp_/, "")}_${index}`;
}

function notStreamed(): HttpError {
  return new HttpError(400, "a response that runs in the background cannot be streamed", {
    hint: "read it without stream: true until its status is completed",
    code: "stream_not_supported",
    param: "stream",
  });
}

function noResponse(id: string, isAllowed: boolean): HttpError {
  return new HttpError(404, `there is no stored response \`${id.slice(0, 100)}\``, {
    hint: isAllowed
      ? "responses with store: false are not kept, others for 30 days at most"
      : "responses are not stored here; set store.prompts in joust.yaml",
    code: "response_not_found",
    param: "id",
  });
}
