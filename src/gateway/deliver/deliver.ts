import type { Dialect, Labels, ModelRequest } from "../dialects/dialect.ts";
import type { Attempt, Fallback } from "../providers/attempt.ts";
import { adaptedHeader } from "../providers/parameters/rules.ts";
import type { ServedModel } from "../providers/served-model.ts";
import { type AnswerHeaders, UpstreamError } from "../providers/upstream/error.ts";
import { type AnswerEnd, readAll } from "../providers/upstream/upstream.ts";
import type { Client } from "../wire/client.ts";
import { type Json, scanObject } from "../wire/json.ts";

/** The form of a response to a routed request. */
export interface ResponseForm {
  readonly dialect: Dialect;
  readonly request: ModelRequest;
  /** Id of the decision. */
  readonly decision: string;
  /** Whether the client wants usage at the end of a stream. */
  readonly wantsUsage: boolean;
  /** Estimated tokens of the prompt. */
  readonly promptTokens: number;
  /**
   * The member `joust` of the response. Called when the response begins, with the models of the
   * answers that are shown, "" for one that failed.
   */
  readonly note: (models: readonly string[]) => Json | Promise<Json>;
  /** Keeps the second answer of a streamed duel, as JSON text, for clients that cannot read it in the stream. */
  readonly keepSecond: (answer: string) => void;
  /** Whether the text of the answer is needed afterwards. Called when the response begins. */
  readonly needsText: () => boolean;
}

/** An answer after its delivery, as it is logged. */
export interface DeliveredAnswer {
  readonly slot: number;
  readonly model: ServedModel;
  readonly fallbacks: readonly Fallback[];
  /** Facts about the end of the answer; undefined if the model failed before its first byte. */
  readonly end: AnswerEnd | undefined;
  /** The error and the time of the call, if `end` is undefined. */
  readonly failure?: { readonly error: UpstreamError; readonly startedAt: number };
  /** Text of the answer, if `needsText` returned true and the answer is complete. */
  readonly text?: string | undefined;
}

export function deliver(
  client: Client,
  attempt: Attempt,
  form: ResponseForm,
): Promise<DeliveredAnswer> {
  return form.request.stream
    ? deliverStream(client, attempt, form)
    : deliverWhole(client, attempt, form);
}

async function deliverWhole(
  client: Client,
  { model, answer, fallbacks }: Attempt,
  { dialect, decision, note, needsText }: ResponseForm,
): Promise<DeliveredAnswer> {
  const noted = note([model.name]);
  const explained = noted instanceof Promise ? await noted : noted;
  const isTextNeeded = needsText();
  const read = readAll(answer);
  const body = read instanceof Promise ? await read : read;
  const end = await answer.end;
  const cost = model.cost(end.usage);
  const labels = labelsOf({ model, answer, fallbacks }, decision, { ...explained, cost });
  const headers = headersOf({ model, answer }, decision);
  if (cost !== undefined) headers["x-joust-cost"] = dollars(cost);
  client.send(200, headers, dialect.label(end.members ?? scanObject(body), labels));
  const text = isTextNeeded ? dialect.textOf(body) : undefined;
  return { slot: 0, model, fallbacks, end, text };
}

async function deliverStream(
  client: Client,
  { model, answer, fallbacks }: Attempt,
  { dialect, decision, wantsUsage, note, needsText }: ResponseForm,
): Promise<DeliveredAnswer> {
  const noted = note([model.name]);
  const explained = noted instanceof Promise ? await noted : noted;
  const label = dialect.labelStream(
    labelsOf({ model, answer, fallbacks }, decision, explained),
    wantsUsage ? (usage) => model.cost(answer.usage?.() ?? usage) : undefined,
  );
  const text = needsText() ? dialect.streamText() : undefined;
  client.beginStream(headersOf({ model, answer }, decision));
  await passPieces(answer.body, dialect, (piece) => {
    text?.push(piece);
    return client.write(label(piece));
  });
  client.end();
  const end = await answer.end;
  return { slot: 0, model, fallbacks, end, text: end.error ? undefined : text?.text() };
}

function labelsOf({ model, answer, fallbacks }: Attempt, id: string, explained: Json): Labels {
  const joust = {
    ...explained,
    model: model.name,
    fallbacks: fallbacks.length > 0 ? fallbacks : undefined,
    adapted: answer.adapted,
  };
  return { id, model: model.name, joust: JSON.stringify(joust), origin: model.name };
}

/**
 * Passes the pieces of a stream on. If `pass` returns a promise, the next piece waits for it. An error
 * of the stream becomes its last event. A generator would be shorter, but takes longer per piece.
 */
export async function passPieces(
  body: AsyncIterable<Uint8Array>,
  dialect: Dialect,
  pass: (piece: Uint8Array) => Promise<unknown> | undefined,
): Promise<void> {
  let first: Uint8Array | undefined;
  let last: Uint8Array | undefined;
  try {
    for await (const piece of body) {
      if (piece[0] !== COLON) {
        first ??= piece;
        last = piece;
      }
      const room = pass(piece);
      if (room) await room;
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    await pass(Buffer.from(dialect.errorEvent(error, first, last)));
  }
}

/** First byte of a comment, which keeps the connection alive. */
const COLON = 0x3a;

/** Writes the answer to a request that named a model. The upstream's bytes are passed on unchanged. */
export async function deliverUnchanged(
  client: Client,
  { model, answer }: Attempt,
  dialect: Dialect,
  stream: boolean,
): Promise<AnswerEnd> {
  const headers = headersOf({ model, answer });
  if (!stream) {
    const body = await readAll(answer);
    const end = await answer.end;
    const cost = model.cost(end.usage);
    if (cost !== undefined) headers["x-joust-cost"] = dollars(cost);
    client.send(200, headers, dialect.passing?.whole(end.members ?? scanObject(body)) ?? body);
    return end;
  }
  client.beginStream(headers);
  const change = dialect.passing?.stream();
  await passPieces(answer.body, dialect, (piece) => client.write(change ? change(piece) : piece));
  client.end();
  return answer.end;
}

function headersOf(
  { model, answer }: Pick<Attempt, "model" | "answer">,
  decision?: string,
): Record<string, string> {
  const headers = passedHeaders(answer.headers);
  headers["x-joust-model"] = model.name;
  if (answer.deployment !== undefined) headers["x-joust-deployment"] = answer.deployment;
  if (answer.adapted) headers["x-joust-adapted"] = adaptedHeader(answer.adapted);
  if (decision !== undefined) headers["x-joust-decision-id"] = decision;
  return headers;
}

const PASSED = /^(x-request-id|request-id|openai-|anthropic-|x-ratelimit-)/;
const FIRST_LETTERS = "xroa";

/** Headers of an upstream's response that are passed on to the client. */
export function passedHeaders(headers: AnswerHeaders): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name in headers) {
    if (!FIRST_LETTERS.includes(name.charAt(0))) continue;
    const value = PASSED.test(name) ? headers[name] : undefined;
    if (value !== undefined) passed[name] = typeof value === "string" ? value : value.join(", ");
  }
  return passed;
}

/** US dollars as a header value, without an exponent. */
export function dollars(cost: number): string {
  return cost.toFixed(10).replace(/\.?0+$/, "");
}
