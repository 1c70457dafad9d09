import type { DuelWriter } from "../dialects/dialect.ts";
import type { SecondAnswer } from "../log/second-answers.ts";
import { type Attempt, asUpstreamError, type DuelAttempt } from "../providers/attempt.ts";
import type { UpstreamError } from "../providers/upstream/error.ts";
import { tokensOfBytes } from "../providers/upstream/text-tokens.ts";
import { readAll, type UpstreamRequest } from "../providers/upstream/upstream.ts";
import { NO_USAGE, type Usage } from "../providers/upstream/usage.ts";
import type { Client } from "../wire/client.ts";
import { editMembers, type Json } from "../wire/json.ts";
import type { DeliveredAnswer, ResponseForm } from "./deliver.ts";

/** Time at which the answers of a duel were created, in seconds since 1970. */
interface Created {
  readonly created: number;
}

/**
 * Writes the first answer of a duel as a single answer. Like in every duel, the name of its model,
 * its cost and the members that only its provider writes stay hidden until the vote. The usage is an
 * estimate, because the provider's own count would reveal the provider.
 */
export function deliverFirst(
  client: Client,
  attempt: Attempt,
  second: string,
  form: ResponseForm,
  { created }: Created,
): Promise<DeliveredAnswer> {
  const { dialect, request, decision } = form;
  const writer = dialect.duel({ id: decision, created, model: request.model });
  return request.stream
    ? deliverFirstStream(client, attempt, second, form, writer)
    : deliverFirstWhole(client, attempt, second, form, writer);
}

async function deliverFirstWhole(
  client: Client,
  { model, answer, fallbacks }: Attempt,
  second: string,
  form: ResponseForm,
  writer: DuelWriter,
): Promise<DeliveredAnswer> {
  const { decision, note, needsText } = form;
  const joust = { ...(await note([model.name, second])), ...LATER };
  const isTextNeeded = needsText();
  const content = writer.answerIn(await readAll(answer));
  const end = await answer.end;
  const body = written(writer, content ? [content] : [], joust, form);
  client.send(200, { "x-joust-decision-id": decision }, body);
  const text = isTextNeeded && content ? writer.textOf(content) : undefined;
  return { slot: 0, model, fallbacks, end, text };
}

async function deliverFirstStream(
  client: Client,
  { model, answer, fallbacks }: Attempt,
  second: string,
  { dialect, decision, wantsUsage, promptTokens, note, needsText }: ResponseForm,
  writer: DuelWriter,
): Promise<DeliveredAnswer> {
  const joust = { ...(await note([model.name, second])), ...LATER };
  const text = needsText() ? dialect.streamText() : undefined;
  client.beginStream({ "x-joust-decision-id": decision });
  client.write(writer.open(joust));
  const rewrite = writer.rewrite(0);
  const shown = dialect.streamText();
  let error: UpstreamError | undefined;
  try {
    for await (const piece of answer.body) {
      text?.push(piece);
      const events = rewrite(piece);
      shown.push(Buffer.from(events));
      const room = client.write(events);
      if (room) await room;
    }
  } catch (thrown) {
    error = asUpstreamError(thrown, model);
  }
  const end = await answer.end;
  const usage = wantsUsage ? estimatedUsage(promptTokens, shown.text()) : undefined;
  client.write(writer.end(usage, { error, isFirstLost: false }));
  client.end();
  return { slot: 0, model, fallbacks, end, text: error ? undefined : text?.text() };
}

const LATER = { duel: "later" };

/** Writes one answer of a duel, with an estimate of its usage. */
function written(
  writer: DuelWriter,
  answers: readonly Json[],
  joust: Json,
  { dialect, promptTokens }: ResponseForm,
): string {
  const uncounted = writer.whole(answers, NO_USAGE, joust);
  const shown = dialect.textOf(Buffer.from(uncounted));
  return writer.whole(answers, estimatedUsage(promptTokens, shown), joust);
}

/**
 * Usage that does not depend on the upstream: an estimate for the prompt, the same for both answers, and one for the
 * text of the answer.
 */
export function estimatedUsage(promptTokens: number, text: string): Usage {
  return { ...NO_USAGE, promptTokens, completionTokens: tokensOfBytes(Buffer.byteLength(text)) };
}

/** The request for the second answer, which is never streamed. */
export function requestForSecond(request: ResponseForm["request"]): UpstreamRequest {
  if (!request.stream) return request;
  const edits = { set: { stream: "false" }, drop: ["stream_options"] };
  const body = editMembers(request.members, edits);
  return { ...request, stream: false, body, members: undefined };
}

/** Reads the second answer of a duel to its end. It never throws. */
export async function readSecond(
  attempt: DuelAttempt,
  form: ResponseForm,
  { router, created }: Created & { readonly router: string },
): Promise<{ readonly delivered: DeliveredAnswer; readonly kept: SecondAnswer }> {
  const { dialect, request, decision } = form;
  const { slot, model, startedAt } = attempt;
  const writer = dialect.duel({ id: decision, created, model: request.model, isSecond: true });
  const answer = await attempt.answer;
  let body: string | undefined;
  let text: string | undefined;
  try {
    const content = answer && writer.answerIn(await readAll(answer));
    if (answer && content) {
      const joust = { decision_id: decision, router, ...LATER, slot };
      body = written(writer, [content], joust, form);
      text = writer.textOf(content);
    }
  } catch (error) {
    attempt.error = asUpstreamError(error, model);
  }
  const end = answer && (await answer.end);
  const { error } = attempt;
  const failure = !end && error ? { failure: { error, startedAt } } : {};
  return {
    delivered: { slot, model, fallbacks: [], end, ...failure, text },
    kept: body === undefined ? { missing: "failed" } : { body },
  };
}
