import type { ServerResponse } from "node:http";
import type { Caller } from "../access/access.ts";
import { traced } from "../telemetry/tracing.ts";
import { Client } from "../wire/client.ts";
import { readBody, skipBody } from "./body.ts";
import { corsHeaders } from "./cors.ts";
import { type Call, type Endpoint, TextAnswer } from "./endpoint.ts";
import { errorAnswer } from "./http-error.ts";
import type { ServerParts } from "./parts.ts";

/** `response.req` is the request; the address has been read. */
export type Handler = (response: ServerResponse, address: Address) => Promise<void>;

type Address = Pick<Call, "query" | "params">;

/** Answers the requests of one endpoint: key, body, errors, count, log. */
export function handler(gateway: ServerParts, endpoint: Endpoint, limit: number): Handler {
  const { method, path: route, scope } = endpoint;
  const counted = new Map<number, { inc(): void }>();
  const count = (status: number) => {
    const { requests } = gateway.metrics;
    const child = counted.get(status) ?? requests.labels(route, String(status));
    counted.set(status, child);
    child.inc();
  };
  const answer = async (response: ServerResponse, { query, params }: Address) => {
    const { req: request } = response;
    const { headers } = request;
    const startedAt = gateway.clock.now();
    const client = new Client(response, corsHeaders(headers));
    try {
      const caller = scope ? await gateway.access.admit(headers, scope) : STRANGER;
      const body = method === "POST" ? await readBody(request, limit) : EMPTY;
      const address = request.socket.remoteAddress ?? "";
      const call: Call = { gateway, caller, headers, address, body, query, params };
      const result = await endpoint.handle(call, client);
      if (result instanceof TextAnswer) {
        client.send(200, { "content-type": result.type }, result.text);
      } else if (result !== undefined) client.send(200, {}, JSON.stringify(result));
    } catch (error) {
      fail(gateway, endpoint, client, response, error);
      skipBody(request, limit);
    }
    count(client.status);
    gateway.logger.info(
      {
        method,
        path: route,
        status: client.status,
        ms: Math.round(100 * (gateway.clock.now() - startedAt)) / 100,
        decision: client.decision,
      },
      "request",
    );
    return client;
  };
  return (response, address) =>
    traced(method, route, response.req.headers, () => answer(response, address));
}

function fail(
  gateway: ServerParts,
  { path }: Endpoint,
  client: Client,
  response: ServerResponse,
  error: unknown,
): void {
  const { status, headers, body, isOurs } = errorAnswer(error);
  const { decision } = client;
  if (isOurs) gateway.logger.error({ err: error, path, decision }, "failed");
  // Half an answer cannot be taken back: to break it off is the one way to say so.
  if (client.hasBegun) response.destroy();
  else
    client.send(status, { ...headers, ...(decision && { "x-joust-decision-id": decision }) }, body);
}

const EMPTY = new Uint8Array();
const STRANGER: Caller = { owner: undefined, isAdmin: false };
