import { messages } from "../dialects/messages/messages.ts";
import type { BodyReader } from "../dialects/reader/reader.ts";
import { callModel } from "../providers/attempt.ts";
import { ServedModel } from "../providers/served-model.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import { readAll } from "../providers/upstream/upstream.ts";
import { resolveFor, type Serving } from "../routing/serving.ts";
import type { Client } from "../wire/client.ts";
import type { AdmittedRequest } from "./request-parts.ts";

/**
 * Answers POST /v1/messages/count_tokens. A model that speaks Messages counts the tokens: the named
 * one, or the first such model of the named router that is enabled and that the key may use. If there
 * is none, or if it fails, the response has an estimate and says so.
 */
export async function countTokens(
  { serving, reader }: { readonly serving: () => Serving; readonly reader: BodyReader },
  { caller, headers, body }: AdmittedRequest,
  client: Client,
): Promise<void> {
  const { request: read, conversation } = await reader.read(messages, body, headers);
  const request = { ...read, endpoint: "messages/count_tokens" } as const;
  const target = resolveFor(caller, serving(), request.model);
  const models = target instanceof ServedModel ? [target] : target.view.models;
  const counter = models.find(
    (model) =>
      model?.dialects.includes("messages") &&
      !model.spec.isDisabled &&
      !model.isResting &&
      caller.models?.includes(model.name) !== false,
  );
  if (counter) {
    try {
      const answer = await callModel(counter, request, client.signal);
      client.send(200, { "x-joust-model": counter.name }, await readAll(answer));
      return;
    } catch (error) {
      // The client's own fault is reported; for any other error an estimate is better than none.
      if (!(error instanceof UpstreamError) || error.fault !== "upstream") throw error;
    }
  }
  const { needs } = conversation();
  const estimate = { input_tokens: needs.promptTokens, joust: { estimated: true } };
  client.send(200, {}, JSON.stringify(estimate));
}
