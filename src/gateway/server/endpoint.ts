import type { IncomingHttpHeaders } from "node:http";
import type { z } from "zod";
import type { Caller } from "../access/access.ts";
import type { Scope } from "../config/scopes.ts";
import { checked } from "../wire/check.ts";
import type { Client } from "../wire/client.ts";
import { scanObject } from "../wire/json-scan.ts";
import type { ServerParts } from "./parts.ts";

/** One request, as an endpoint sees it. */
export interface Call {
  readonly gateway: ServerParts;
  /** Everybody's, where an endpoint takes no key. */
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
  readonly body: Uint8Array;
  readonly query: Readonly<Record<string, unknown>>;
  readonly params: Readonly<Record<string, string>>;
}

/** A path and what it does; the description of the interface is made of these. */
export interface Endpoint {
  readonly method: "GET" | "POST";
  /** With its parameters in braces: /v1/decisions/{id}. */
  readonly path: string;
  readonly summary: string;
  /** What a key must allow; none: no key is asked for. */
  readonly scope?: Scope;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** What is answered, in words, beside errors. */
  readonly answer: string;
  /** Statuses besides 200, 400, and those of keys. */
  readonly refusals?: readonly number[];
  readonly type?: string;
  /** Sends what this returns as JSON; or writes to the client itself. */
  readonly handle: (call: Call, client: Client) => unknown;
}

/** The JSON object in a request's body, in the shape that it must have. */
export function bodyOf<S extends z.ZodType>(schema: S, { body }: Call): z.output<S> {
  scanObject(body); // not too deep, and an object
  return checked(schema, JSON.parse(Buffer.from(body).toString()));
}

export function queryOf<S extends z.ZodObject>(schema: S, { query }: Call): z.output<S> {
  return checked(schema, query);
}

/** An answer that is no JSON. */
export class TextAnswer {
  readonly type: string;
  readonly text: string;

  constructor(type: string, text: string) {
    this.type = type;
    this.text = text;
  }
}
