import { randomUUID } from "node:crypto";
import type { Caller } from "../access/access.ts";
import type { Gateway } from "../gateway.ts";
import { needsOf } from "../needs.ts";
import type { UpstreamRequest } from "../providers/upstream.ts";
import { type Asked, DIRECT } from "../recorder.ts";
import type { ServedModel } from "../serving/served-model.ts";
import { attempt, NobodyAnswered } from "./attempt.ts";
import type { ModelRequest } from "./chat-request.ts";
import type { Client } from "./client.ts";
import { deliver } from "./single.ts";

/** A request to a model by its own name: straight through, nothing decided; its cost is logged. */
export async function direct(
  gateway: Gateway,
  { owner }: Caller,
  client: Client,
  model: ServedModel,
  endpoint: UpstreamRequest["endpoint"],
  request: ModelRequest,
): Promise<void> {
  const { body, stream } = request;
  const startedAt = gateway.clock.now();
  const asked: Asked = {
    router: DIRECT,
    decision: randomUUID(),
    slot: 0,
    owner,
    promptTokens: needsOf({ messages: [] }, body.length).promptTokens,
  };
  const errand = { endpoint, body, stream, signal: client.signal };
  try {
    const answering = await attempt(model, () => [], errand, gateway.recorder);
    const single = { asked, answering, note: undefined, stream, wantsUsage: false };
    await deliver(gateway, client, single);
  } catch (error) {
    if (!(error instanceof NobodyAnswered)) throw error;
    gateway.recorder.failed(asked, model.name, error.first, startedAt, []);
    throw error.first;
  }
}
