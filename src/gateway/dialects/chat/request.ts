import type { z } from "zod";
import { ROUTING, RoutingOptions } from "../../../api/chat.ts";
import { didYouMean } from "../../../core/input/nearest.ts";
import type { Needs } from "../../providers/served-model.ts";
import { checked, HttpError } from "../../wire/http-error.ts";
import { isRecord, type Members } from "../../wire/json-scan.ts";
import {
  type Conversation,
  invalidMember,
  type JoustOptions,
  type RequestHeaders,
} from "../dialect.ts";
import { promptOf } from "./prompt.ts";

export function readConversation(members: Members, headers: RequestHeaders): Conversation {
  const messages = members.value("messages");
  if (!Array.isArray(messages)) throw invalidMember("messages", "has to be a list of messages");
  const { valueStart, valueEnd } = members.find("messages")!;
  const request = {
    messages,
    tools: members.value("tools"),
    functions: members.value("functions"),
    response_format: members.value("response_format"),
    max_tokens: members.value("max_tokens"),
    max_completion_tokens: members.value("max_completion_tokens"),
  };
  const n = members.value("n");
  const options = members.value("stream_options");
  return {
    prompt: promptOf(messages),
    messages,
    needs: needsOf(request, valueEnd - valueStart),
    n: typeof n === "number" ? n : 1,
    wantsUsage: isRecord(options) && options.include_usage === true,
    inToolLoop: isToolResult(messages.at(-1)),
    isRunning: messages.some((message) => isRecord(message) && message.role === "assistant"),
    options: readOptions(members.value("joust"), headers),
  };
}

function isToolResult(message: unknown): boolean {
  return isRecord(message) && (message.role === "tool" || message.role === "function");
}

function hintFor(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  const known = Object.keys(ROUTING);
  return `${didYouMean((issue.keys[0] ?? "").slice(0, 64), known)}there is ${known.join(", ")}`;
}

const NO_OPTIONS: RoutingOptions = {};

/** Reads the member and the headers of the same names. The member takes precedence. */
function readOptions(member: unknown, headers: RequestHeaders): JoustOptions {
  const given = member == null ? NO_OPTIONS : checked(RoutingOptions, member, ["joust"], hintFor);
  const {
    "x-joust-duel": duel,
    "x-joust-cost-quality-tradeoff": tradeoff,
    "x-joust-allowed-models": allowed,
    "x-joust-session-id": session,
  } = headers;
  return {
    duel: given.duel ?? inHeader("x-joust-duel", duel, ROUTING.duel, asFlag),
    tradeoff:
      given.cost_quality_tradeoff ??
      inHeader("x-joust-cost-quality-tradeoff", tradeoff, ROUTING.cost_quality_tradeoff, asNumber),
    allowed:
      given.allowed_models ??
      inHeader("x-joust-allowed-models", allowed, ROUTING.allowed_models, asList),
    session:
      given.session_id ??
      inHeader("x-joust-session-id", session, ROUTING.session_id, (text) => text),
  };
}

function inHeader<S extends z.ZodType>(
  name: string,
  value: string | string[] | undefined,
  schema: S,
  read: (text: string) => unknown,
): z.output<S> | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string") {
    throw new HttpError(400, `the request has the header ${name} twice`, {
      hint: "send it once",
      param: name,
    });
  }
  return checked(schema, read(value.trim()), [name]);
}

function asFlag(text: string): unknown {
  return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : text;
}

function asNumber(text: string): unknown {
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
}

function asList(text: string): string[] {
  return text.split(",").map((name) => name.trim());
}

/** Members of a chat request that determine its needs. */
interface ChatMembers {
  readonly messages: readonly unknown[];
  readonly tools?: unknown;
  readonly functions?: unknown;
  readonly response_format?: unknown;
  readonly max_tokens?: unknown;
  readonly max_completion_tokens?: unknown;
}

/** `bytes` is the length of the messages in the request body. */
export function needsOf(request: ChatMembers, bytes: number): Needs {
  const { messages, tools, functions, response_format: format } = request;
  let vision = false;
  let attached = 0;
  for (const message of messages) {
    if (!isRecord(message) || !Array.isArray(message.content)) continue;
    for (const part of message.content) {
      if (!isRecord(part)) continue;
      vision ||= /^(input_)?image/.test(String(part.type));
      attached += attachedBytes(part);
    }
  }
  return {
    vision,
    tools: isFilled(tools) || isFilled(functions),
    jsonSchema: isRecord(format) && format.type === "json_schema",
    promptTokens: tokensIn(Math.max(0, bytes - attached)),
    answerTokens: positive(request.max_completion_tokens) ?? positive(request.max_tokens),
  };
}

/**
 * Estimated number of tokens. English in JSON has about 4.5 bytes per token, code and other
 * scripts have fewer.
 */
export function tokensIn(bytes: number): number {
  return Math.ceil(bytes / 4);
}

/** Bytes of an attached image, sound or file, which are not text. */
function attachedBytes(part: Readonly<Record<string, unknown>>): number {
  const { image_url: image, input_audio: audio, file } = part;
  const data = isRecord(image)
    ? image.url
    : isRecord(audio)
      ? audio.data
      : isRecord(file)
        ? file.file_data
        : image;
  return typeof data === "string" ? data.length : 0;
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;
}
