import type { Codec } from "../items/codec.ts";
import { parseAnswer, writeAnswer } from "./answer.ts";
import { parseRequest, writeRequest } from "./request.ts";
import { ChatStreamParser } from "./stream-parser.ts";
import { ChatStreamWriter } from "./stream-writer.ts";

/** OpenAI's chat completions. */
export const chatCodec: Codec = {
  name: "chat",
  parseRequest,
  writeRequest,
  parseAnswer,
  writeAnswer,
  streamParser: () => new ChatStreamParser(),
  streamWriter: (request) => new ChatStreamWriter(request),
};
