import { readUsage as readMessagesUsage } from "../../codecs/messages/answer.ts";
import { readUsage as readResponsesUsage } from "../../codecs/responses/answer.ts";
import type { DialectName } from "../../wire/dialect-names.ts";
import { readUsage, type Usage } from "./usage.ts";

/** Reads the member `usage` of an answer in one of the dialects. */
export function usageIn(dialect: DialectName, value: unknown): Usage | undefined {
  return READERS[dialect](value);
}

const READERS: Readonly<Record<DialectName, (value: unknown) => Usage | undefined>> = {
  chat: readUsage,
  responses: readResponsesUsage,
  messages: readMessagesUsage,
};

/** Combines two counts of a stream: the output tokens of the later one, and the input tokens of the later one that has any. */
export function usageAfter(before: Usage | undefined, next: Usage | undefined): Usage | undefined {
  if (!next || !before) return next ?? before;
  const { completionTokens, reasoningTokens } = next;
  return { ...(next.promptTokens > 0 ? next : before), completionTokens, reasoningTokens };
}
