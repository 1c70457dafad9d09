import { errorBody } from "../codecs/errors.ts";
import { sse } from "../codecs/items/codec.ts";
import type { UpstreamError } from "../providers/upstream/error.ts";
import { isRecord, parsed } from "../wire/json.ts";

/** Members of an upstream's error, to be written in the shape of any dialect. */
export function errorFields(error: UpstreamError) {
  const body = parsed(error.toJson());
  const { message, type, code, param, hint, details } =
    isRecord(body) && isRecord(body.error) ? body.error : {};
  return {
    status: error.clientStatus,
    message: text(message) ?? error.message,
    type: text(type),
    code: text(code),
    param: text(param),
    hint: text(hint),
    details: isRecord(details) ? details : undefined,
  };
}

/** Event of Messages that ends a stream with an error. */
export function messagesError(error: UpstreamError): string {
  return sse("error", JSON.stringify(errorBody("messages", errorFields(error))));
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
