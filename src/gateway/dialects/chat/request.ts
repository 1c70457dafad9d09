import type { z } from "zod";
import { ROUTING, RoutingOptions } from "../../../api/chat.ts";
import { didYouMean } from "../../../core/input/nearest.ts";
import type { Needs } from "../../providers/capabilities.ts";
import { checked, HttpError } from "../../wire/http-error.ts";
import { isRecord, type Members } from "../../wire/json.ts";
import { type Conversation, invalidMember, type RequestHeaders } from "../dialect.ts";
import { promptOf } from "./prompt.ts";

export function readConversation(members: Members, headers: RequestHeaders): Conversation {
  const messages = members.value("messages");
  if (!Array.isArray(messages)) throw invalidMember("messages", "has to be a list of messages");
  const { valueStart, valueEnd } = members.find("messages")!;
  const n = members.value("n");
  const options = members.value("stream_options");
  return {
    prompt: promptOf(messages),
    messages,
    needs: needsOf(members, messages, valueEnd - valueStart),
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

/** Reads the member and the headers of the same names. The member takes precedence. */
function readOptions(member: unknown, headers: RequestHeaders): RoutingOptions {
  const given: RoutingOptions =
    member == null ? {} : checked(RoutingOptions, member, ["joust"], hintFor);
  const option = <N extends keyof typeof HEADERS>(name: N) =>
    given[name] ?? inHeader(name, headers[HEADERS[name]]);
  return {
    duel: option("duel"),
    cost_quality_tradeoff: option("cost_quality_tradeoff"),
    allowed_models: option("allowed_models"),
    session_id: option("session_id"),
  };
}

const HEADERS = {
  duel: "x-joust-duel",
  cost_quality_tradeoff: "x-joust-cost-quality-tradeoff",
  allowed_models: "x-joust-allowed-models",
  session_id: "x-joust-session-id",
} as const;

const READ: Readonly<Record<keyof typeof HEADERS, (text: string) => unknown>> = {
  duel: asFlag,
  cost_quality_tradeoff: asNumber,
  allowed_models: (text) => text.split(",").map((name) => name.trim()),
  session_id: (text) => text,
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

/** `bytes` is the length of the messages in the request body. */
function needsOf(members: Members, messages: readonly unknown[], bytes: number): Needs {
  const format = members.value("response_format");
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
    tools: isFilled(members.value("tools")) || isFilled(members.value("functions")),
    jsonSchema: isRecord(format) && format.type === "json_schema",
    promptTokens: tokensIn(Math.max(0, bytes - attached)),
    answerTokens:
      positive(members.value("max_completion_tokens")) ?? positive(members.value("max_tokens")),
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
