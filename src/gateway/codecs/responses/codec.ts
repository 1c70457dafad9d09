import type { Codec } from "../items/codec.ts";
import { parseAnswer, writeAnswer } from "./answer.ts";
import { parseRequest, writeRequest } from "./request.ts";
import { ResponsesStreamParser } from "./stream-parser.ts";
import { ResponsesStreamWriter } from "./stream-writer.ts";

/** OpenAI's responses. */
export const responsesCodec: Codec = {
  name: "responses",
  parseRequest,
  writeRequest,
  parseAnswer,
  writeAnswer,
  streamParser: () => new ResponsesStreamParser(),
  streamWriter: (request) => new ResponsesStreamWriter(request),
};
