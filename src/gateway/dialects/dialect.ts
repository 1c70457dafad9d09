import type { RoutingOptions } from "../../api/chat.ts";
import { wrongContent } from "../codecs/items/content.ts";
import type { Needs } from "../providers/capabilities.ts";
import type { PromptBound } from "../providers/served-model.ts";
import type { UpstreamError } from "../providers/upstream/error.ts";
import type { UpstreamRequest } from "../providers/upstream/upstream.ts";
import type { Usage } from "../providers/upstream/usage.ts";
import type { DialectName } from "../wire/dialect-names.ts";
import { HttpError } from "../wire/http-error.ts";
import { type Json, type Members, scanRequest } from "../wire/json.ts";

/**
 * A wire format that clients speak. It turns the body of a request into what routing works
 * with, and an upstream's answer into the response. Bytes that need no change stay as they are.
 */
export interface Dialect {
  readonly name: DialectName;
  readonly endpoint: UpstreamRequest["endpoint"];
  /** Headers of a client that are passed on to upstreams that speak the dialect. */
  readonly passedHeaders: readonly string[];
  /**
   * Throws if a request refers to state that an upstream keeps. Not called for requests that are
   * passed on unchanged.
   */
  checkState?(members: Members): void;
  /** Reads a request that names a router. Throws a 400 if a member is invalid. */
  read(members: Members, headers: RequestHeaders): Conversation;
  /** Adds the gateway's labels to a complete answer. */
  label(answer: Members, labels: Labels): Uint8Array;
  /**
   * Returns a function that adds the labels to each piece of a stream. A piece consists of
   * whole events. `costOf` adds the cost to the event that has the usage.
   */
  labelStream(
    labels: Labels,
    costOf?: (usage: Usage | undefined) => number | undefined,
  ): (piece: Uint8Array) => Uint8Array;
  textOf(answer: Uint8Array): string;
  streamText(): StreamText;
  /**
   * Last event of a stream that broke off. Without it, the answer would look complete. `first` and `last` are the first
   * piece of the stream and the last one, for dialects whose events have the id of the answer and numbers.
   */
  errorEvent(error: UpstreamError, first?: Uint8Array, last?: Uint8Array): string;
  duel(head: DuelHead): DuelWriter;
  /** Changes to the answer of a named model. Without them it keeps its bytes. */
  readonly passing?: PassingAnswer | undefined;
}

interface PassingAnswer {
  whole(answer: Members): Uint8Array;
  /** Returns a function that changes the pieces of a stream. */
  stream(): (piece: Uint8Array) => Uint8Array;
}

export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A request that was read, before its model is resolved. `model` names a router or a model. */
export type ModelRequest = UpstreamRequest & {
  readonly members: Members;
  /** Limits of the cost, if another thread has read them. */
  readonly costLimits?: CostLimits | undefined;
};

/** The numbers that limit the cost of a request. */
export interface CostLimits {
  readonly prompt: PromptBound;
  /** Number of prompts, each of which is answered: more than one only in a list for /v1/completions or /v1/embeddings. */
  readonly prompts: number;
  /** Number of answers to a prompt. */
  readonly n: number;
  /** Tokens of each answer; undefined if the request has no limit. */
  readonly answerTokens: number | undefined;
  /** Tokens by which the limit of an answer may be raised, so that the model can think. */
  readonly thinkingTokens: number;
}

/** The parts of a request that routing works with. */
export interface Conversation {
  /** Text that stands for the request in routing. */
  readonly prompt: string;
  /** Facts about the messages by which later requests recognise the conversation. */
  readonly history: History;
  readonly needs: Needs;
  /** Number of answers that the client wants from the model. */
  readonly n: number;
  /** Whether the client wants usage at the end of a stream. */
  readonly wantsUsage: boolean;
  /** Whether the last message is the result of a tool, which the calling model waits for. */
  readonly inToolLoop: boolean;
  /** Whether one of these results says that the tool failed. */
  readonly hasToolError: boolean;
  /** Whether the conversation already has an answer. */
  readonly isRunning: boolean;
  /** Name of a member that requests a part of the answer which only some upstreams write, such as logprobs. */
  readonly providerSpecific?: string | undefined;
  /** Options of the member `joust`, or of headers. */
  readonly options: RoutingOptions;
}

/** Facts about earlier messages of a conversation by which later requests recognise it. */
export interface History {
  /** The beginnings of the conversation, the shortest first. */
  readonly prefixes: readonly Prefix[];
  /**
   * Hash of the messages before the first answer, which an agent sends with every request.
   * Undefined if the request does not use tools.
   */
  readonly opening: string | undefined;
}

/** A beginning of a conversation: its first messages up to one of them. */
export interface Prefix {
  /** Hash of all these messages. The text itself is not kept. */
  readonly hash: string;
  /** Share of the conversation's characters that these messages have, 0 to 1. */
  readonly share: number;
  /** Share of the conversation's characters that earlier answers in these messages have. */
  readonly answerShare: number;
  /** Whether these messages are all instructions, which other conversations share. */
  readonly isHead: boolean;
}

/** Values that the gateway writes into an answer. */
export interface Labels {
  /** Id of the decision, by which clients vote. */
  readonly id: string;
  /** Name of the model as clients know it. */
  readonly model: string;
  /** JSON text of the member `joust`. */
  readonly joust: string;
  /** Name of the model that signatures of reasoning carry. */
  readonly origin?: string | undefined;
}

export interface StreamText {
  push(piece: Uint8Array): void;
  /** Text so far. */
  text(): string;
}

/** Members that both answers of a duel share. They do not reveal the models. */
export interface DuelHead {
  /** Id of the decision. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** Name of the router. */
  readonly model: string;
  /** Whether only the second answer is written, which the client fetches later. */
  readonly isSecond?: boolean | undefined;
}

/** Writes one response that holds both answers of a duel, without the names of the models. */
export interface DuelWriter {
  /** The answer in the response of one model, or undefined if there is none. */
  answerIn(response: Uint8Array): Json | undefined;
  textOf(answer: Json): string;
  whole(answers: readonly Json[], usage: Usage, joust: Json): string;
  /** First event of a stream. */
  open(joust: Json): string;
  /** Returns a function that rewrites the events of one answer. */
  rewrite(index: number): (piece: Uint8Array) => string;
  /** Event that ends the answers at these indices with an error. */
  fail(indices: readonly number[], joust: Json): string;
  /** Events that end the stream, with an error if no answer is complete. */
  end(usage: Usage | undefined, lost: LostAnswers): string;
  /** The second answer of a stream that has ended, in a dialect whose answers have no choices. */
  secondAnswer?(usage?: Usage): Json | undefined;
}

/** Answers of a duel that broke off. */
interface LostAnswers {
  /** The error of the stream if no answer is complete: that of the first answer, if it has one. */
  readonly error: UpstreamError | undefined;
  /** Whether the answer that is shown first is incomplete. */
  readonly isFirstLost: boolean;
}

/** Reads the members that requests of all endpoints have: `model` and `stream`. */
export function readRequest(
  endpoint: ModelRequest["endpoint"],
  body: Uint8Array,
  headers?: Readonly<Record<string, string>>,
): ModelRequest {
  const members = scanRequest(body);
  checkNumbers(members);
  // A missing name is refused where it is resolved, with the names that exist.
  const model = members.value("model") ?? "";
  if (typeof model !== "string") throw invalidMember("model", "has to be a text");
  const stream = members.value("stream") ?? false;
  if (typeof stream !== "boolean") throw invalidMember("stream", "has to be true or false");
  return { endpoint, body, members, model, stream, headers };
}

/** Headers of a client that go to upstreams that speak its dialect; undefined if there are none. */
export function passedHeaders(
  { passedHeaders: names }: Dialect,
  headers: RequestHeaders,
): Readonly<Record<string, string>> | undefined {
  let passed: Record<string, string> | undefined;
  for (const name of names) {
    const value = headers[name];
    if (value === undefined || value === "") continue;
    passed ??= {};
    passed[name] = String(value);
  }
  return passed;
}

/** Hint for a request without messages. */
export const MESSAGES_HINT =
  'send a list such as [{"role": "user", "content": "Hi"}]; the member input belongs to /v1/responses';

/** The error of a member that is missing. `hint` says what to send. */
export function missingMember(param: string, hint: string): HttpError {
  return new HttpError(400, `${param} is missing`, { hint, code: "missing_value", param });
}

/** Throws a 400 if the content of a message is neither text nor a list of parts. */
export function checkContents(list: unknown, name: string): void {
  const wrong = wrongContent(list, name);
  if (wrong !== undefined) throw invalidMember(wrong, "has to be a text or a list of parts");
}

/** Throws a 400 if a number is too large to be read. It would be left out of a translated request. */
function checkNumbers({ json, spans }: Members): void {
  for (let k = 0; k < spans.length; k += 4) {
    const start = spans[k + 2]!;
    const end = spans[k + 3]!;
    const first = json[start]!;
    if (first !== MINUS && (first < ZERO || first > NINE)) continue;
    // Without an exponent, such a short number is finite.
    if (end - start < 300 && !hasExponent(json, start, end)) continue;
    if (Number.isFinite(Number(json.toString("latin1", start, end)))) continue;
    const key: unknown = JSON.parse(json.toString("utf8", spans[k], spans[k + 1]));
    throw invalidMember(String(key), "is too large for a number");
  }
}

function hasExponent(json: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((json[i]! | 0x20) === LETTER_E) return true;
  return false;
}

const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_E = 0x65;

export function invalidMember(param: string, problem: string): HttpError {
  return new HttpError(400, `${param}: ${problem}`, {
    hint: "/openapi.json lists the allowed values",
    code: "invalid_value",
    param,
  });
}
