import type { Codec } from "../items/codec.ts";
import { parseAnswer, writeAnswer } from "./answer.ts";
import { parseRequest, writeRequest } from "./request.ts";
import { MessagesStreamParser } from "./stream-parser.ts";
import { MessagesStreamWriter } from "./stream-writer.ts";

/** Anthropic's messages. */
export const messagesCodec: Codec = {
  name: "messages",
  parseRequest,
  writeRequest,
  parseAnswer,
  writeAnswer,
  streamParser: () => new MessagesStreamParser(),
  streamWriter: () => new MessagesStreamWriter(),
};
