import { messagesCodec } from "../../codecs/messages/codec.ts";
import { answerText, streamText } from "../answer-text.ts";
import { bodyOf } from "../body.ts";
import {
  checkContents,
  type Dialect,
  invalidMember,
  MESSAGES_HINT,
  missingMember,
} from "../dialect.ts";
import { conversationOf } from "../items/conversation.ts";
import { itemDuel } from "../items/duel.ts";
import { labelStream, labelWhole } from "../items/labels.ts";
import { messagesError } from "../upstream-error.ts";
import { refuseThread } from "./thread.ts";

/**
 * Tokens of the answer that must fit into the context. Anthropic requires a limit, so clients send
 * the largest limit that its models allow, whatever length they expect.
 */
const ROOM_TOKENS = 1024;

/** Anthropic's Messages. */
export const messages: Dialect = {
  name: "messages",
  endpoint: "messages",
  passedHeaders: ["anthropic-version", "anthropic-beta"],
  checkState: refuseThread,
  read: (members, headers) => {
    const body = bodyOf(members);
    if (body.messages === undefined) throw missingMember("messages", MESSAGES_HINT);
    if (!Array.isArray(body.messages)) {
      throw invalidMember("messages", "has to be a list of messages");
    }
    checkContents(body.messages, "messages");
    const conversation = conversationOf(messagesCodec.parseRequest(body), members, headers);
    const { needs } = conversation;
    const roomTokens = Math.min(needs.answerTokens ?? 0, ROOM_TOKENS);
    return { ...conversation, needs: { ...needs, roomTokens } };
  },
  label: labelWhole("messages"),
  labelStream: labelStream("messages"),
  textOf: (answer) => answerText("messages", answer),
  streamText: () => streamText("messages"),
  errorEvent: messagesError,
  duel: (head) => itemDuel("messages", head),
};
