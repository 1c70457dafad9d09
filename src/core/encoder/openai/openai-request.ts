/** One request to /embeddings, with retries and a check of the response. */
import { z } from "zod";
import { InputError } from "../../input/input-error.ts";
import {
  connectionError,
  isTransient,
  type RetryOptions,
  retryAfter,
  TransientFailure,
  withRetries,
} from "../common/retry.ts";

export interface EmbeddingsEndpoint {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** Length that every embedding must have. */
  readonly dimension: number;
  /** Length to request, if it is not the model's default. */
  readonly requested: number | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  readonly fetch: typeof fetch;
}

/** A text has more tokens than the server accepts. */
export class TooLong extends Error {
  override readonly name = "TooLong";
  override readonly cause: Error;

  constructor(cause: Error) {
    super(cause.message, { cause });
    this.cause = cause;
  }
}

/** Requests the embeddings of the texts. */
export function embed(
  endpoint: EmbeddingsEndpoint,
  texts: readonly string[],
  retry: RetryOptions,
): Promise<Float32Array[]> {
  return withRetries(async () => {
    const { status, headers, text } = await post(endpoint, texts, retry.signal);
    if (status === 200) return vectorsOf(endpoint, texts.length, text);
    const error = refusal(endpoint, status, text);
    if (isTransient(status) && !NO_QUOTA.test(text)) {
      throw new TransientFailure(error, retryAfter(headers));
    }
    throw status === 400 && TOO_LONG.test(text) ? new TooLong(error) : error;
  }, retry);
}

/** Messages by which OpenAI, vLLM and other servers report that a text is too long. */
const TOO_LONG =
  /(maximum|max) (context|input|model|sequence) ?len|max \d+ tokens|too (long|many tokens)/i;
const NO_QUOTA = /insufficient_quota/;

async function post(
  { url, apiKey, model, requested, timeout, fetch: send }: EmbeddingsEndpoint,
  input: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ status: number; headers: Headers; text: string }> {
  const limit = AbortSignal.timeout(timeout);
  try {
    const response = await send(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
      },
      // base64 is exact and a third of the size of decimal digits.
      body: JSON.stringify({ model, input, dimensions: requested, encoding_format: "base64" }),
      signal: signal ? AbortSignal.any([limit, signal]) : limit,
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    throw connectionError(
      error,
      (problem) => new InputError({ file: hostOf(url) }, problem, LATER),
    );
  }
}

const LATER = "try again later: with a cache folder, finished texts are not encoded again";

function hostOf(url: string): string {
  return new URL(url).host;
}

function refusal({ url, model }: EmbeddingsEndpoint, status: number, body: string): InputError {
  const host = hostOf(url);
  // The server's message is not shown, because it may contain a part of the key.
  if (status === 401) {
    return new InputError(
      { file: "OPENAI_API_KEY" },
      `was rejected by ${host} (401)`,
      "set it to a valid key of that server",
    );
  }
  const reason = `${status}: ${messageOf(body)}`;
  if (NO_QUOTA.test(body)) {
    return new InputError(
      { file: "OPENAI_API_KEY" },
      `has no quota left at ${host} (${reason})`,
      "add credit to its account, or use another key",
    );
  }
  if (isTransient(status)) return new InputError({ file: host }, `failed (${reason})`, LATER);
  const hint =
    status === 404
      ? `check the address and the name of the model, "${model}"`
      : "correct the request as the server's message says";
  return new InputError({ file: host }, `rejected the request (${reason})`, hint);
}

function messageOf(body: string): string {
  const parsed = REFUSAL.safeParse(jsonOrUndefined(body));
  const message = parsed.success ? parsed.data.error.message : body;
  const line = message.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 197)}...` : line || "no reason given";
}

const REFUSAL = z.object({ error: z.object({ message: z.string() }) });
const RESPONSE = z.object({
  data: z.array(
    z.object({
      index: z.number().int(),
      embedding: z.union([z.string(), z.array(z.number())]),
    }),
  ),
});

function vectorsOf(
  { url, model, dimension }: EmbeddingsEndpoint,
  count: number,
  body: string,
): Float32Array[] {
  const fail = (problem: string, hint = "use a server with OpenAI's interface: POST /embeddings") =>
    new InputError({ file: hostOf(url) }, problem, hint);
  const response = RESPONSE.safeParse(jsonOrUndefined(body));
  if (!response.success) throw fail(`did not respond with embeddings (${messageOf(body)})`);
  const { data } = response.data;
  if (data.length !== count) throw fail(`returned ${data.length} embeddings for ${count} texts`);
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined);
  for (const { index, embedding } of data) {
    if (!(index in vectors) || vectors[index]) {
      throw fail(`returned index ${index} twice or out of range for ${count} texts`);
    }
    const vector = decode(embedding);
    if (vector.length !== dimension) {
      throw fail(
        `returned an embedding of ${vector.length} numbers; ${model} should have ${dimension}`,
        "correct the name of the model or its dimensions",
      );
    }
    if (!vector.every(Number.isFinite))
      throw fail("returned an embedding with a number that is not finite");
    vectors[index] = vector;
  }
  return vectors.map((vector) => vector!);
}

/** Reads float32 in base64, as requested, or decimal numbers, which some servers return nevertheless. */
function decode(embedding: string | readonly number[]): Float32Array {
  if (typeof embedding !== "string") return Float32Array.from(embedding);
  const bytes = new Uint8Array(Buffer.from(embedding, "base64"));
  // An incomplete float32 gives an empty vector, which fails the check of the length.
  return new Float32Array(bytes.buffer, 0, bytes.length % 4 === 0 ? bytes.length / 4 : 0);
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
