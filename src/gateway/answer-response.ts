import { type ResponseState, storedResponses } from "./dialects/responses/stored.ts";
import type { KeptResponse, StoredResponses } from "./log/stored-responses.ts";
import { type AdmittedRequest, answerConversation, type RequestParts } from "./request.ts";
import type { Client } from "./wire/client.ts";
import { HttpError } from "./wire/http-error.ts";
import { editMembers, type Members } from "./wire/json.ts";

/**
 * Answers POST /v1/responses. A request that continues an earlier response gets the whole
 * conversation from the store; the models and their hosts never see `previous_response_id`.
 */
export async function answerResponse(
  parts: RequestParts & { readonly responses: StoredResponses },
  admitted: AdmittedRequest,
  client: Client,
): Promise<void> {
  const { responses, reader } = parts;
  const { owner } = admitted.caller;
  const request = await reader.readRequest("responses", admitted.body);
  const { members } = request;
  const previous = members.value("previous_response_id") ?? undefined;
  const earlier = previous === undefined ? undefined : await found(responses, previous, owner);
  const isBackground = members.value("background") === true;
  const isStored = responses.isAllowed && members.value("store") !== false && !isBackground;
  // The bytes of the request may be gone when the answer is complete.
  const input = earlier || isStored ? joined(earlier, members) : "";
  const body = earlier
    ? editMembers(members, { set: { input }, drop: ["previous_response_id"] })
    : request.body;
  const state: ResponseState = {
    set: {
      ...(!isBackground && { store: String(isStored) }),
      previous_response_id: JSON.stringify(previous ?? null),
    },
    begun: isBackground
      ? (hostId, id, model = request.model) =>
          responses.hold(id, owner, { kind: "held", model, id: hostId })
      : undefined,
    complete: isStored
      ? (response) => responses.keep(String(response.id), owner, input, response)
      : undefined,
  };
  await answerConversation(parts, storedResponses(state), { ...admitted, body }, client);
}

/** The response that a request continues. */
async function found(
  responses: StoredResponses,
  id: unknown,
  owner: string | undefined,
): Promise<KeptResponse> {
  const state = typeof id === "string" ? await responses.read(id, owner) : undefined;
  if (state?.kind === "kept") return state;
  throw new HttpError(400, `there is no stored response \`${String(id).slice(0, 100)}\``, {
    hint: responses.isAllowed
      ? "responses are kept for 30 days at most; send the whole conversation as input"
      : "responses are not stored here: send the whole conversation as input, or set store.prompts in joust.yaml",
    code: "previous_response_not_found",
    param: "previous_response_id",
  });
}

/**
 * JSON text of the items of the conversation: those of the earlier response, its output, and those of
 * the request. The request's own are not parsed, because they may be large.
 */
function joined(earlier: KeptResponse | undefined, members: Members): string {
  const { output } = earlier?.response ?? {};
  const before = [...(earlier?.input ?? []), ...(Array.isArray(output) ? output : [])];
  const items = before.map((item) => JSON.stringify(item));
  const own = itemsOf(members);
  return `[${[...items, ...(own === "" ? [] : [own])].join(",")}]`;
}

/** JSON text of the request's items, without the brackets of a list. */
function itemsOf(members: Members): string {
  const member = members.find("input");
  if (!member) return "";
  const { valueStart, valueEnd } = member;
  const text = Buffer.from(members.json.subarray(valueStart, valueEnd)).toString();
  if (text.startsWith('"')) return `{"type":"message","role":"user","content":${text}}`;
  return text.startsWith("[") ? text.slice(1, -1).trim() : "";
}
