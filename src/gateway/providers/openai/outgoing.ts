import { withEncrypted } from "../../codecs/responses/request.ts";
import {
  type Edits,
  editMembers,
  editObject,
  JsonError,
  type Members,
  scanObject,
} from "../../wire/json.ts";
import { UpstreamError } from "../upstream/error.ts";
import { DIALECT_OF, type UpstreamRequest } from "../upstream/upstream.ts";

interface Outgoing {
  readonly body: Uint8Array;
  /** Whether only the gateway requested usage, so that its event is hidden from the client. */
  readonly hideUsage: boolean;
}

/**
 * Prepares the client's bytes for an upstream: sets the upstream's name of the model and removes
 * `joust`. A stream of chat completions has no usage, and so no known cost, unless usage is
 * requested, so the gateway requests it if the client did not.
 */
export function outgoing(upstream: string, request: UpstreamRequest, askUsage: boolean): Outgoing {
  try {
    const members = request.members ?? scanObject(request.body);
    const set: Record<string, string> = { model: JSON.stringify(request.model) };
    const dialect = DIALECT_OF[request.endpoint];
    const own = dialect ? request.adapt?.(dialect, members) : undefined;
    const isRefused = own?.drop?.includes("stream_options") === true;
    const mayAsk =
      askUsage && !isRefused && request.stream && request.endpoint.endsWith("completions");
    const options = mayAsk ? withUsage(members) : undefined;
    if (options !== undefined) set.stream_options = options;
    const refused = own?.drop ?? [];
    const unstored = request.endpoint === "responses" ? withoutStore(members, request.model) : {};
    for (const name of refused) delete unstored[name];
    const edits: Edits = {
      set: { ...unstored, ...own?.set, ...set },
      drop: ["joust", ...refused],
    };
    return { body: editMembers(members, edits), hideUsage: options !== undefined };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new UpstreamError("request", upstream, `was not called: ${error.message}`);
  }
}

/**
 * The upstream must not store anything, because later requests may go to another model. In return, it
 * has to send its reasoning along. Background mode needs the upstream's store.
 */
function withoutStore(members: Members, model: string): Record<string, string> {
  if (members.value("background") === true || members.value("store") === false) return {};
  const include = members.value("include");
  const wanted = withEncrypted(include, model);
  const isChanged = wanted !== include && wanted.length > 0;
  return { store: "false", ...(isChanged && { include: JSON.stringify(wanted) }) };
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
