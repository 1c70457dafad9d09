import type { IncomingMessage } from "node:http";
import { HttpError } from "../wire/http-error.ts";

/** Reads a body as bytes. Rejects with 413 if it exceeds the limit. */
export function readBody(request: IncomingMessage, limit: number): Promise<Uint8Array> {
  if (request.destroyed) return Promise.reject(incomplete());
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
  request.on("error", () => reject(incomplete()));
  return promise;
}

/**
 * Discards the body of a request that was refused, so that the next request on the
 * connection can be read. A body larger than the limit ends the connection.
 */
export function discardBody(request: IncomingMessage, limit: number): void {
  if (request.readableFlowing !== null) return; // it is being read
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) request.socket.destroy();
  });
}

export function tooLarge(limit: number): HttpError {
  return new HttpError(413, `the body is larger than ${limit} bytes`, {
    hint: "send less, or raise server.body_mb in joust.yaml if this is a prompt",
    code: "bad_request",
  });
}

function incomplete(): HttpError {
  return new HttpError(400, "the request broke off");
}
