import type { z } from "zod";
import { ROUTING, RoutingOptions } from "../../api/chat.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import { checked, HttpError } from "../wire/http-error.ts";
import { editMembers, isRecord, type Json, type Members, scanObject } from "../wire/json.ts";
import type { ModelRequest, RequestHeaders } from "./dialect.ts";

function hintFor(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  const known = Object.keys(ROUTING);
  return `${didYouMean((issue.keys[0] ?? "").slice(0, 64), known)}known options: ${known.join(", ")}`;
}

/** Whether a request that names a model must reach it unchanged. Other options do not concern it. */
export function isStrict(members: Members, headers: RequestHeaders): boolean {
  const member = members.value("joust");
  const strict = isRecord(member) ? member.strict : undefined;
  return (strict ?? asFlag(String(headers[HEADERS.strict] ?? ""))) === true;
}

/** Key by which requests that name a model stay with one of its deployments. */
export function affinityOf(members: Members, headers: RequestHeaders): string | undefined {
  const session = headers[HEADERS.session_id] ?? members.value("prompt_cache_key");
  return typeof session === "string" && session !== "" ? session : undefined;
}

/**
 * Reads the member `joust` and the headers of the same names. The member takes precedence. The
 * client's id may also be in `metadata`, for clients that can set neither.
 */
export function readOptions(members: Members, headers: RequestHeaders): RoutingOptions {
  const member = members.value("joust");
  const given: RoutingOptions =
    member == null ? {} : checked(RoutingOptions, member, ["joust"], hintFor);
  const option = <N extends keyof typeof HEADERS>(name: N) =>
    given[name] ?? inHeader(name, headers[HEADERS[name]]);
  return {
    duel: option("duel"),
    cost_quality_tradeoff: option("cost_quality_tradeoff"),
    allowed_models: option("allowed_models"),
    session_id: option("session_id"),
    strict: option("strict"),
    id: option("id") ?? idInMetadata(members),
  };
}

/** Member of `metadata` that holds the id that the client chose. */
const METADATA_ID = "joust_id";

function idInMetadata(members: Members): string | undefined {
  const id = metadataOf(members)?.[METADATA_ID];
  return id === undefined ? undefined : checked(ROUTING.id, id, ["metadata", METADATA_ID]);
}

/** The request without the client's id in `metadata`, which some providers refuse. */
export function withoutMetadataId(request: ModelRequest): ModelRequest {
  const { [METADATA_ID]: id, ...rest } = metadataOf(request.members) ?? {};
  if (id === undefined) return request;
  const isEmpty = Object.keys(rest).length === 0;
  const body = editMembers(
    request.members,
    isEmpty ? { drop: ["metadata"] } : { set: { metadata: JSON.stringify(rest) } },
  );
  return { ...request, body, members: scanObject(body) };
}

/** The member `metadata`, unless it is larger than those of any provider. */
function metadataOf(members: Members): Json | undefined {
  const found = members.find("metadata");
  if (!found || found.valueEnd - found.valueStart > MOST_METADATA) return undefined;
  const metadata = members.value("metadata");
  return isRecord(metadata) ? metadata : undefined;
}

const MOST_METADATA = 16_384;

/** Headers that clients may send, by option. */
export const HEADERS = {
  duel: "x-joust-duel",
  cost_quality_tradeoff: "x-joust-cost-quality-tradeoff",
  allowed_models: "x-joust-allowed-models",
  session_id: "x-joust-session-id",
  strict: "x-joust-strict",
  id: "x-joust-id",
} as const;

const READ: Readonly<Record<keyof typeof HEADERS, (text: string) => unknown>> = {
  duel: asFlag,
  cost_quality_tradeoff: asNumber,
  allowed_models: (text) => text.split(",").map((name) => name.trim()),
  session_id: (text) => text,
  strict: asFlag,
  id: (text) => text,
};

function inHeader<N extends keyof typeof HEADERS>(
  name: N,
  value: string | string[] | undefined,
): z.output<(typeof ROUTING)[N]> | undefined {
  if (value === undefined || value === "") return undefined;
  const header = HEADERS[name];
  if (typeof value !== "string") {
    throw new HttpError(400, `the request has the header ${header} twice`, {
      hint: "send it once",
      param: header,
    });
  }
  const schema: z.ZodType = ROUTING[name];
  return checked(schema, READ[name](value.trim()), [header]) as z.output<(typeof ROUTING)[N]>;
}

function asFlag(text: string): unknown {
  return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : text;
}

function asNumber(text: string): unknown {
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
}
