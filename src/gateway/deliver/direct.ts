import { randomUUID } from "node:crypto";
import type { Caller } from "../access/access.ts";
import type { Clock } from "../clock/clock.ts";
import type { ModelRequest } from "../dialects/chat/request.ts";
import { type Asked, DIRECT, type Recorder } from "../log/recorder.ts";
import { attempt, NobodyAnswered } from "../providers/attempt.ts";
import { needsOf } from "../providers/capabilities.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { UpstreamRequest } from "../providers/upstream/upstream.ts";
import type { Client } from "../wire/client.ts";
import { deliver } from "./deliver.ts";

interface DirectParts {
  readonly recorder: Recorder;
  readonly clock: Clock;
}

/** A request to a model by its own name: straight through, nothing decided; its cost is logged. */
export async function direct(
  { recorder, clock }: DirectParts,
  { owner }: Caller,
  client: Client,
  model: ServedModel,
  endpoint: UpstreamRequest["endpoint"],
  request: ModelRequest,
): Promise<void> {
  const { body, stream } = request;
  const startedAt = clock.now();
  const asked: Asked = {
    router: DIRECT,
    decision: randomUUID(),
    slot: 0,
    owner,
    promptTokens: needsOf({ messages: [] }, body.length).promptTokens,
  };
  const errand = { endpoint, body, stream, signal: client.signal };
  try {
    const answering = await attempt(model, () => [], errand, recorder);
    const single = { asked, answering, note: undefined, stream, wantsUsage: false };
    await deliver(recorder, client, single);
  } catch (error) {
    if (!(error instanceof NobodyAnswered)) throw error;
    recorder.failed(asked, model.name, error.first, startedAt, []);
    throw error.first;
  }
}
