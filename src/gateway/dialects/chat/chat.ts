import type { Dialect } from "../dialect.ts";
import { ChatText, textOf } from "./answer-text.ts";
import { duelWriter } from "./duel-writer.ts";
import { labelStream, labelWhole } from "./labels.ts";
import { readConversation } from "./request.ts";

/** OpenAI's chat completions. */
export const chat: Dialect = {
  endpoint: "chat/completions",
  read: readConversation,
  label: labelWhole,
  labelStream,
  textOf: (answer) => textOf(JSON.parse(Buffer.from(answer).toString())),
  streamText: () => new ChatText(),
  duel: duelWriter,
};
