import { newDecisionId } from "../store/decision-id.ts";
import type { AdmittedRequest, RequestParts } from "./answer/request-parts.ts";
import { type ResponseState, storedResponses } from "./dialects/responses/stored.ts";
import { listIn, REFERENCE, StoredConversation } from "./log/conversation.ts";
import type { StoredResponses } from "./log/stored-responses.ts";
import { answerConversation } from "./request.ts";
import type { Client } from "./wire/client.ts";
import { HttpError } from "./wire/http-error.ts";
import { checkFiniteText } from "./wire/infinite.ts";
import { editMembers, type Members } from "./wire/json.ts";

/**
 * Answers POST /v1/responses. A request that continues an earlier response, or refers to its items, gets
 * them from the store; the models and their upstreams never see `previous_response_id` and `item_reference`.
 */
export async function answerResponse(
  parts: RequestParts & { readonly responses: StoredResponses },
  admitted: AdmittedRequest & Pick<HeldMemory, "hold">,
  client: Client,
): Promise<void> {
  const { responses, reader, clock, serving } = parts;
  const { owner } = admitted.caller;
  const request = await reader.readRequest("responses", admitted.body);
  const { members } = request;
  const previous = members.value("previous_response_id") ?? undefined;
  const isBackground = members.value("background") === true;
  if (isBackground && admitted.caller.budget !== undefined) throw noBackground();
  const isStored = responses.isAllowed && members.value("store") !== false && !isBackground;
  const limit = Math.floor(serving().config.server.body_mb * 2 ** 20);
  const stored = new StoredConversation(responses, owner, limit - admitted.body.length);
  const mayRefer = previous !== undefined || hasReference(request.body);
  // The bytes of the request may be gone when the answer is complete.
  const input = isStored || mayRefer ? itemsOf(members) : "";
  // Items that are stored or resolved are parsed and written again.
  checkFiniteText(`[${input}]`, "input");
  const earlier = previous === undefined ? [] : await stored.upTo(previous);
  const resolved = await stored.resolved(input);
  const isExpanded = previous !== undefined || resolved !== input;
  const items = [...earlier, resolved].filter((part) => part !== "").join(",");
  if (isExpanded) admitted.hold(items.length);
  const body = isExpanded
    ? editMembers(members, { set: { input: `[${items}]` }, drop: ["previous_response_id"] })
    : request.body;
  const state: ResponseState = {
    set: {
      ...(!isBackground && { store: String(isStored) }),
      previous_response_id: JSON.stringify(previous ?? null),
    },
    // Ids of upstreams are not unique, and a client could guess them.
    ownId: isStored || isBackground ? `resp_${newDecisionId(clock.date())}` : undefined,
    begun: isBackground
      ? (upstreamId, id, model = request.model) =>
          responses.hold(id, owner, { kind: "held", model, id: upstreamId })
      : undefined,
    complete: isStored
      ? (response) =>
          responses.keep(String(response.id), {
            owner,
            previous: previous === undefined ? undefined : String(previous),
            earlier: stored.chain.slice(1),
            input: `[${input}]`,
            response,
          })
      : undefined,
  };
  await answerConversation(parts, storedResponses(state), { ...admitted, body }, client);
}

/** The provider counts the tokens of a response in the background when nobody is connected any more. */
function noBackground(): HttpError {
  return new HttpError(403, "a key with a budget cannot create responses in the background", {
    hint: "send the request without background, or use a key without a budget",
    code: "background_not_allowed",
    param: "background",
  });
}

/** Whether a body may refer to stored items. The bytes are not copied. */
function hasReference({ buffer, byteOffset, length }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, length).includes(REFERENCE);
}

/** The memory that a request holds. */
interface HeldMemory {
  /** Counts bytes besides those of the body. Throws a 503 if the gateway holds too many. */
  hold(bytes: number): void;
}

/** JSON text of the request's items, without the brackets of a list. */
function itemsOf(members: Members): string {
  const member = members.find("input");
  if (member && members.json[member.valueStart] === QUOTE) {
    const { valueStart, valueEnd } = member;
    const text = Buffer.from(members.json.subarray(valueStart, valueEnd)).toString();
    return `{"type":"message","role":"user","content":${text}}`;
  }
  return listIn(members, "input");
}

const QUOTE = 0x22;
