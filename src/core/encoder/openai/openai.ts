import { InputError } from "../../input/input-error.ts";
import { EmbeddingCache } from "../common/embedding-cache.ts";
import type { Encoder } from "../common/encoder.ts";
import type { RetryOptions } from "../common/retry.ts";
import { type EmbeddingsEndpoint, embed, TooLong } from "./openai-request.ts";

export interface OpenaiOptions extends Omit<RetryOptions, "signal"> {
  /** OPENAI_API_KEY. A server of your own may need none. */
  readonly apiKey: string | undefined;
  /** OPENAI_BASE_URL: OpenAI or a server with the same interface. */
  readonly baseUrl?: string | undefined;
  readonly model?: string | undefined;
  /** Length of the embeddings. Required for models that are not OpenAI's. */
  readonly dimensions?: number | undefined;
  /** Folder that caches embeddings. */
  readonly cacheDir?: string | undefined;
  /** Milliseconds that a response may take. */
  readonly timeout?: number | undefined;
  /** Largest number of concurrent requests. */
  readonly concurrency?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
}

const OPENAI = "https://api.openai.com/v1";
const DEFAULT_MODEL = "text-embedding-3-large";

/** The default model under the paper's name for it. */
export const OPENAI_TEXT = { name: "OpenAItext", dimension: 3072 } as const;

/** Embedding lengths of OpenAI's models. The third generation also offers shorter ones on request. */
const DIMENSIONS: Readonly<Record<string, number>> = {
  [DEFAULT_MODEL]: OPENAI_TEXT.dimension,
  "text-embedding-3-small": 1536,
  "text-embedding-ada-002": 1536,
};

/** Makes an encoder that requests embeddings from OpenAI or a server with the same interface. */
export function openaiEncoder(options: OpenaiOptions): Encoder {
  const { model = DEFAULT_MODEL, dimensions, cacheDir, concurrency = 4 } = options;
  const endpoint = endpointOf(options, model);
  const { dimension } = endpoint;
  const cache = cacheDir === undefined ? undefined : new EmbeddingCache(cacheDir, model, dimension);
  let opened: Promise<void> | undefined;
  return {
    name: model === DEFAULT_MODEL && dimensions === undefined ? OPENAI_TEXT.name : model,
    dimension,
    async encode(texts) {
      opened ??= cache?.open();
      await opened;
      const vectors = new Map<string, Float32Array>();
      const missing = await readCached(new Set(texts), cache, vectors);
      const abort = new AbortController();
      const retry = { ...options, signal: abort.signal };
      try {
        await inParallel(batchesOf(missing), concurrency, async (batch) => {
          const made = await embedAll(endpoint, batch.map(sendable), retry);
          await inParallel([...batch.entries()], FILES_AT_ONCE, async ([i, text]) => {
            vectors.set(text, made[i]!);
            await cache?.put(text, made[i]!);
          });
        });
      } finally {
        abort.abort(); // if one request has failed, the others are no longer needed
      }
      return texts.map((text) => Float64Array.from(vectors.get(text)!));
    },
  };
}

function endpointOf(options: OpenaiOptions, model: string): EmbeddingsEndpoint {
  const { apiKey, baseUrl = OPENAI, dimensions, timeout = 60_000, fetch: send = fetch } = options;
  const url = URL.parse(baseUrl);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new InputError({ file: "OPENAI_BASE_URL" }, `is "${baseUrl}"`, `write it as ${OPENAI}`);
  }
  if (url.username || url.password) {
    throw new InputError(
      { file: "OPENAI_BASE_URL" },
      "contains a user name or a password",
      "remove them, and put the key into OPENAI_API_KEY",
    );
  }
  if (!apiKey && baseUrl === OPENAI) {
    throw new InputError(
      { file: "OPENAI_API_KEY" },
      "is not set",
      "set it to a key from platform.openai.com, or set OPENAI_BASE_URL to a server of your own",
    );
  }
  const own = DIMENSIONS[model];
  const dimension = dimensions ?? own;
  if (dimension === undefined || !(Number.isInteger(dimension) && dimension > 0)) {
    throw new InputError(
      { file: model, field: "dimensions" },
      dimension === undefined ? "is not known for this model" : `is ${dimension}`,
      "give the length of the model's embeddings",
    );
  }
  // Other models have one length only, and most servers reject a request for a length.
  const requested = own !== undefined && dimension !== own ? dimension : undefined;
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/embeddings`;
  return { url: url.href, apiKey, model, dimension, requested, timeout, fetch: send };
}

/** Fills `vectors` from the cache and returns the texts that the cache does not have. */
async function readCached(
  texts: ReadonlySet<string>,
  cache: EmbeddingCache | undefined,
  vectors: Map<string, Float32Array>,
): Promise<string[]> {
  if (cache) {
    // The files are read in parallel, but below the limit on open files.
    await inParallel([...texts], FILES_AT_ONCE, async (text) => {
      const vector = await cache.get(text);
      if (vector) vectors.set(text, vector);
    });
  }
  return [...texts].filter((text) => !vectors.has(text));
}

const FILES_AT_ONCE = 32;

/** Below the server's limits of 2,048 texts and 300,000 tokens, so that a failed request costs little. */
const MOST_TEXTS = 256;
const MOST_TOKENS = 100_000;

function batchesOf(texts: readonly string[]): string[][] {
  const batches: string[][] = [];
  let tokens = Infinity;
  for (const text of texts) {
    const more = estimateTokens(text);
    const last = batches.at(-1);
    if (last && last.length < MOST_TEXTS && tokens + more <= MOST_TOKENS) {
      last.push(text);
      tokens += more;
    } else {
      batches.push([text]);
      tokens = more;
    }
  }
  return batches;
}

/** A high estimate: English has about four bytes per token, code and other scripts two or three. */
function estimateTokens(text: string): number {
  return Math.ceil(Math.min(Buffer.byteLength(text), LONGEST) / 2);
}

/** Longest text in bytes: 8,191 tokens of four bytes. */
const LONGEST = 4 * 8191;
const SHORTEST = 64;

/** Replaces an empty text, which the server rejects, by a full stop, and cuts long texts. */
function sendable(text: string): string {
  return text.trim() === "" ? "." : cut(text, LONGEST);
}

/** Returns the longest prefix of at most `bytes` bytes in UTF-8. */
function cut(text: string, bytes: number): string {
  if (3 * text.length <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/**
 * Requests the embeddings of a batch. A batch that is rejected as too long is split
 * in two, down to the text that is too long, which is then cut in half until it
 * fits. So a text's embedding does not depend on its batch.
 */
async function embedAll(
  endpoint: EmbeddingsEndpoint,
  texts: readonly string[],
  retry: RetryOptions,
): Promise<Float32Array[]> {
  try {
    return await embed(endpoint, texts, retry);
  } catch (error) {
    if (!(error instanceof TooLong)) throw error;
    const [first, second] = texts;
    if (second === undefined) {
      const bytes = Math.floor(Buffer.byteLength(first!) / 2);
      if (bytes < SHORTEST) throw error.cause;
      return embedAll(endpoint, [cut(first!, bytes)], retry);
    }
    const half = Math.ceil(texts.length / 2);
    return [
      ...(await embedAll(endpoint, texts.slice(0, half), retry)),
      ...(await embedAll(endpoint, texts.slice(half), retry)),
    ];
  }
}

/** Runs `work` on every item, at most `width` at a time, until the first failure. */
async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  let failed = false;
  const worker = async () => {
    for (const item of queue) {
      if (failed) return;
      await work(item).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}
