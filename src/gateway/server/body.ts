import type { IncomingMessage } from "node:http";
import { HttpError } from "../errors/http-error.ts";

/** A request's body, as the bytes it is: who needs JSON parses it. */
export function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  if (request.destroyed) return Promise.reject(brokenOff());
  if (Number(request.headers["content-length"]) > limit) return Promise.reject(tooLarge(limit));
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const chunks: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) chunks.push(chunk);
    else reject(tooLarge(limit));
  });
  request.on("end", () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
  request.on("error", () => reject(brokenOff()));
  return promise;
}

/** Of a body that nobody wants so much is read that the next request on its connection is found. */
export function skipBody(request: IncomingMessage, limit: number): void {
  if (request.readableFlowing !== null) return; // somebody reads it
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) request.socket.destroy();
  });
}

function brokenOff(): HttpError {
  return new HttpError(400, "the request broke off");
}

function tooLarge(limit: number): HttpError {
  return new HttpError(413, `the body is larger than ${limit} bytes`, {
    hint: "send less, or raise server.body_mb in joust.yaml",
    code: "bad_request",
  });
}
