import { HttpError } from "../../errors/http-error.ts";
import { type Needs, needsOf } from "../../providers/capabilities.ts";
import { type Members, scanObject } from "../../wire/json-scan.ts";
import { isRecord } from "../../wire/json-value.ts";
import { promptOf } from "./prompt.ts";

/** Any request that names a model: as much of it as every endpoint needs. */
export interface ModelRequest {
  /** The client's own bytes, and where their members stand. */
  readonly body: Uint8Array;
  readonly members: Members;
  readonly model: string;
  readonly stream: boolean;
}

export function readModelRequest(body: Uint8Array): ModelRequest {
  const members = scanObject(body);
  const model = members.value("model");
  if (typeof model !== "string" || model === "") {
    throw invalid("model", "has to name a model or a router");
  }
  const stream = members.value("stream") ?? false;
  if (typeof stream !== "boolean") throw invalid("stream", "has to be true or false");
  return { body, members, model, stream };
}

function invalid(param: string, problem: string): HttpError {
  return new HttpError(400, `${param}: ${problem}`, {
    hint: "/openapi.json says what it may be",
    code: "invalid_value",
    param,
  });
}

/** What of a chat decides how it is routed. */
export interface Chat {
  readonly prompt: string;
  readonly messages: readonly unknown[];
  readonly needs: Needs;
  /** How many answers one model is to give. */
  readonly n: number;
  readonly wantsUsage: boolean;
  /** The last word is a tool's: a model waits for it that has called the tool. */
  readonly inToolLoop: boolean;
  /** Something was answered before. */
  readonly isRunning: boolean;
}

export function readChat(members: Members): Chat {
  const messages = members.value("messages");
  if (!Array.isArray(messages)) throw invalid("messages", "has to be a list of messages");
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
    inToolLoop: isToolTurn(messages.at(-1)),
    isRunning: messages.some((message) => isRecord(message) && message.role === "assistant"),
  };
}

function isToolTurn(message: unknown): boolean {
  return isRecord(message) && (message.role === "tool" || message.role === "function");
}
