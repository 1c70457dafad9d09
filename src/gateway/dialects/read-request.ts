import { HttpError } from "../errors/http-error.ts";
import { scanObject } from "../wire/json-scan.ts";
import type { ModelRequest } from "./dialect.ts";

/** Reads the members that requests of all endpoints have: `model` and `stream`. */
export function readRequest(endpoint: ModelRequest["endpoint"], body: Uint8Array): ModelRequest {
  const members = scanObject(body);
  const model = members.value("model");
  if (typeof model !== "string" || model === "") {
    throw invalidMember("model", "has to name a model or a router");
  }
  const stream = members.value("stream") ?? false;
  if (typeof stream !== "boolean") throw invalidMember("stream", "has to be true or false");
  return { endpoint, body, members, model, stream };
}

export function invalidMember(param: string, problem: string): HttpError {
  return new HttpError(400, `${param}: ${problem}`, {
    hint: "/openapi.json says what it may be",
    code: "invalid_value",
    param,
  });
}
