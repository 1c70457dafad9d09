import type { ServerResponse } from "node:http";

/** A request in the form in which the upstream checks it, whichever dialect it came in. */
export interface Conversation {
  readonly model: string;
  readonly stream: boolean;
  readonly maxTokens: number | undefined;
  readonly system: string;
  readonly entries: readonly Entry[];
  readonly tools: readonly OfferedTool[];
  /** Name of the only tool that the answer may call. */
  readonly forcedTool: string | undefined;
  /** JSON schema that the text of the answer must have. */
  readonly schema: unknown;
  /** Whether the client wants the usage of a stream. */
  readonly wantsUsage: boolean;
}

/** A part of the conversation, in order. */
export type Entry =
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "image"; readonly type: string; readonly bytes: Uint8Array }
  | { readonly kind: "assistant"; readonly text: string }
  | { readonly kind: "call"; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly kind: "result"; readonly id: string; readonly text: string };

export interface OfferedTool {
  readonly name: string;
  readonly parameters: unknown;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** An answer of the upstream. Each piece of the text is an event of a stream. */
export interface Answer {
  readonly pieces: readonly string[];
  readonly calls: readonly ToolCall[];
  /** Whether the stream stays open after the first piece of the text. */
  readonly isEndless?: boolean;
}

/** The wire form of one dialect, written without the gateway's own codecs. */
export interface Wire {
  /** Reads a request; throws `Refused` if the API of the dialect would refuse it. */
  read(body: unknown): Conversation;
  body(answer: Answer, model: string): object;
  /** The events of a stream, in order. */
  events(answer: Answer, request: Conversation): readonly object[];
  write(response: ServerResponse, event: object): void;
  end(response: ServerResponse): void;
  error(status: number, message: string): object;
}

/** A request that the upstream does not accept. */
export class Refused extends Error {}
