import type { Needs } from "../../providers/capabilities.ts";
import { tokensOfBytes } from "../../providers/upstream/text-tokens.ts";
import { isRecord, type Members } from "../../wire/json.ts";
import { answerLimits } from "../answer-limits.ts";
import {
  type Conversation,
  checkContents,
  invalidMember,
  MESSAGES_HINT,
  missingMember,
  type RequestHeaders,
} from "../dialect.ts";
import { readOptions } from "../options.ts";
import { looksLikeError } from "../tool-error.ts";
import { historyOf } from "./history.ts";
import { promptOf, textOf } from "./prompt.ts";

export function readConversation(members: Members, headers: RequestHeaders): Conversation {
  const messages = members.value("messages");
  if (messages === undefined) throw missingMember("messages", MESSAGES_HINT);
  if (!Array.isArray(messages)) throw invalidMember("messages", "has to be a list of messages");
  checkContents(messages, "messages");
  const options = members.value("stream_options");
  const { n, answerTokens } = answerLimits(members);
  const needs = needsOf(members, messages, answerTokens);
  const inToolLoop = isToolResult(messages.at(-1));
  return {
    prompt: promptOf(messages),
    history: historyOf(messages, needs.tools || inToolLoop),
    needs,
    n,
    wantsUsage: isRecord(options) && options.include_usage === true,
    inToolLoop,
    hasToolError: inToolLoop && hasToolError(messages),
    isRunning: messages.some((message) => isRecord(message) && message.role === "assistant"),
    providerSpecific: providerSpecific(members),
    options: readOptions(members, headers),
  };
}

function providerSpecific(members: Members): string | undefined {
  if (members.value("logprobs") === true) return "logprobs";
  const modalities = members.value("modalities");
  if (Array.isArray(modalities) && modalities.includes("audio")) return "modalities";
  return isRecord(members.value("web_search_options")) ? "web_search_options" : undefined;
}

function isToolResult(message: unknown): boolean {
  return isRecord(message) && (message.role === "tool" || message.role === "function");
}

/** Whether one of the tools' results at the end says that the tool failed. */
function hasToolError(messages: readonly unknown[]): boolean {
  const results = messages.slice(messages.findLastIndex((message) => !isToolResult(message)) + 1);
  return results.some((one) => isRecord(one) && looksLikeError(textOf(one.content)));
}

function needsOf(
  members: Members,
  messages: readonly unknown[],
  answerTokens: number | undefined,
): Needs {
  const format = members.value("response_format");
  const bytes = PROMPT.reduce((sum, name) => sum + bytesOf(members, name), 0);
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
    promptTokens: tokensOfBytes(Math.max(0, bytes - attached)),
    answerTokens,
  };
}

/** Members that a model reads as part of its prompt. */
const PROMPT = ["messages", "tools", "functions", "response_format"];

function bytesOf(members: Members, name: string): number {
  const member = members.find(name);
  return member ? member.valueEnd - member.valueStart : 0;
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
