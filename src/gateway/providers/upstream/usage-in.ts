import { readUsage as readChatUsage } from "../../codecs/chat/usage.ts";
import { readUsage as readMessagesUsage } from "../../codecs/messages/answer.ts";
import { readUsage as readResponsesUsage } from "../../codecs/responses/answer.ts";
import type { DialectName } from "../../wire/dialect-names.ts";
import type { Usage } from "./usage.ts";

/** Reads the member `usage` of an answer in one of the dialects. */
export function usageIn(dialect: DialectName, value: unknown): Usage | undefined {
  return READERS[dialect](value);
}

const READERS: Readonly<Record<DialectName, (value: unknown) => Usage | undefined>> = {
  chat: readChatUsage,
  responses: readResponsesUsage,
  messages: readMessagesUsage,
};
