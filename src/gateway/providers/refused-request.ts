import { isRecord, type Json, parsed } from "../wire/json.ts";
import { tokensOf } from "./deployment.ts";
import type { RefusedRequest } from "./learned-limits.ts";
import { ANSWER_LIMITS } from "./parameters/rules.ts";
import type { Feature } from "./upstream/refusal.ts";
import type { UpstreamRequest } from "./upstream/upstream.ts";

/** Facts about a refused request that bound what its refusal may teach about the model. */
export function refusedRequest(
  request: UpstreamRequest,
  known: number | undefined,
): RefusedRequest {
  const { tokens, members, body } = request;
  const answer = ANSWER_LIMITS.map((name) => members?.value(name)).find(isCount) ?? 0;
  return {
    tokens: tokens ?? tokensOf(request) + answer,
    known,
    uses: (feature) => usesIn(feature, parsed(Buffer.from(body).toString())),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value > 0;
}

/** Whether a request of any dialect uses a feature. */
function usesIn(feature: Feature, request: unknown): boolean {
  if (!isRecord(request)) return false;
  switch (feature) {
    case "tools":
      return hasTools(request);
    case "json_schema":
      return hasSchema(request);
    case "schema_with_tools":
      return hasTools(request) && hasSchema(request);
    case "vision":
      return hasImage(request);
  }
}

function hasTools({ tools, functions }: Json): boolean {
  return [tools, functions].some((list) => Array.isArray(list) && list.length > 0);
}

/** The format of the answer in chat completions, in Responses and in Messages. */
function hasSchema({ response_format, text, output_config, output_format }: Json): boolean {
  const formats = [
    response_format,
    isRecord(text) ? text.format : undefined,
    isRecord(output_config) ? output_config.format : undefined,
    output_format,
  ];
  return formats.some((format) => isRecord(format) && /^json/.test(String(format.type)));
}

function hasImage({ messages, input }: Json): boolean {
  const open: unknown[] = [messages, input];
  while (open.length > 0) {
    const next = open.pop();
    if (isRecord(next) && /^(input_)?image(_url)?$/.test(String(next.type))) return true;
    if (typeof next === "object" && next !== null) {
      for (const inner of Object.values(next)) open.push(inner);
    }
  }
  return false;
}
