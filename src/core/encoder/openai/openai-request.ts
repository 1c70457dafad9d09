/** One request to /embeddings, tried again where the failure may pass, its answer checked. */
import { z } from "zod";
import { InputError } from "../../input/input-error.ts";
import {
  connectionError,
  isPassing,
  PassingFailure,
  type RetryOptions,
  retryAfter,
  withRetries,
} from "../common/retry.ts";

export interface EmbeddingsEndpoint {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** The length that every vector must have. */
  readonly dimension: number;
  /** The same, where the server has to be asked for it. */
  readonly asked: number | undefined;
  /** Milliseconds. */
  readonly timeout: number;
  readonly fetch: typeof fetch;
}

/** The server takes fewer tokens. */
export class TooLong extends Error {
  override readonly name = "TooLong";
  override readonly cause: Error;

  constructor(cause: Error) {
    super(cause.message, { cause });
    this.cause = cause;
  }
}

/** The vectors of the texts, in their order. */
export function embed(
  endpoint: EmbeddingsEndpoint,
  texts: readonly string[],
  retry: RetryOptions,
): Promise<Float32Array[]> {
  return withRetries(async () => {
    const { status, headers, text } = await post(endpoint, texts, retry.signal);
    if (status === 200) return vectorsOf(endpoint, texts.length, text);
    const error = refusal(endpoint, status, text);
    if (isPassing(status) && !NO_QUOTA.test(text)) {
      throw new PassingFailure(error, retryAfter(headers));
    }
    throw status === 400 && TOO_LONG.test(text) ? new TooLong(error) : error;
  }, retry);
}

/** OpenAI's words, and those of vLLM and others. */
const TOO_LONG =
  /(maximum|max) (context|input|model|sequence) ?len|max \d+ tokens|too (long|many tokens)/i;
const NO_QUOTA = /insufficient_quota/;

async function post(
  { url, apiKey, model, asked, timeout, fetch: send }: EmbeddingsEndpoint,
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
      // A third of the bytes that decimal digits take, and every bit as the server has it.
      body: JSON.stringify({ model, input, dimensions: asked, encoding_format: "base64" }),
      signal: signal ? AbortSignal.any([limit, signal]) : limit,
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    throw connectionError(error, (fault) => new InputError({ file: hostOf(url) }, fault, LATER));
  }
}

const LATER = "try again later: with a cache folder, what was encoded is not asked for again";

function hostOf(url: string): string {
  return new URL(url).host;
}

function refusal({ url, model }: EmbeddingsEndpoint, status: number, body: string): InputError {
  const host = hostOf(url);
  // The server's own words on a key may hold part of it.
  if (status === 401) {
    return new InputError(
      { file: "OPENAI_API_KEY" },
      `is refused by ${host} (401)`,
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
  if (isPassing(status)) return new InputError({ file: host }, `failed (${reason})`, LATER);
  const remedy =
    status === 404
      ? `check the address and the name of the model, "${model}"`
      : "correct what the server complains about";
  return new InputError({ file: host }, `refused the request (${reason})`, remedy);
}

function messageOf(body: string): string {
  const parsed = REFUSAL.safeParse(jsonOrUndefined(body));
  const message = parsed.success ? parsed.data.error.message : body;
  const line = message.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 197)}...` : line || "no reason given";
}

const REFUSAL = z.object({ error: z.object({ message: z.string() }) });
const ANSWER = z.object({
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
  const fail = (
    problem: string,
    remedy = "use a server with OpenAI's interface: POST /embeddings",
  ) => new InputError({ file: hostOf(url) }, problem, remedy);
  const answer = ANSWER.safeParse(jsonOrUndefined(body));
  if (!answer.success) throw fail(`did not answer with embeddings (${messageOf(body)})`);
  const { data } = answer.data;
  if (data.length !== count) throw fail(`gave ${data.length} vectors for ${count} texts`);
  const vectors = new Array<Float32Array | undefined>(count).fill(undefined);
  for (const { index, embedding } of data) {
    if (!(index in vectors) || vectors[index]) {
      throw fail(`gave two vectors or none for a text: index ${index} of ${count} texts`);
    }
    const vector = decode(embedding);
    if (vector.length !== dimension) {
      throw fail(
        `gave a vector of ${vector.length} numbers where ${model} should have ${dimension}`,
        "correct the name of the model, or its dimensions",
      );
    }
    if (!vector.every(Number.isFinite))
      throw fail("gave a vector with a number that is not finite");
    vectors[index] = vector;
  }
  return vectors.map((vector) => vector!);
}

/** float32 in base64 as we ask for it, or decimal numbers as some servers give all the same. */
function decode(embedding: string | readonly number[]): Float32Array {
  if (typeof embedding !== "string") return Float32Array.from(embedding);
  const bytes = new Uint8Array(Buffer.from(embedding, "base64"));
  // Bytes that are no whole number of float32 fail the check of the length.
  return new Float32Array(bytes.buffer, 0, bytes.length % 4 === 0 ? bytes.length / 4 : 0);
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
