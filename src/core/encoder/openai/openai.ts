import { InputError } from "../../input/input-error.ts";
import { EmbeddingCache } from "../common/embedding-cache.ts";
import type { Encoder } from "../common/encoder.ts";
import type { RetryOptions } from "../common/retry.ts";
import { type EmbeddingsEndpoint, embed, TooLong } from "./openai-request.ts";

export interface OpenaiOptions extends Omit<RetryOptions, "signal"> {
  /** OPENAI_API_KEY; servers of one's own may need none. */
  readonly apiKey: string | undefined;
  /** Of any server with OpenAI's interface, as OPENAI_BASE_URL has it. */
  readonly baseUrl?: string | undefined;
  readonly model?: string | undefined;
  /** The length of the vectors, where it is not the model's own or the model is none of OpenAI's. */
  readonly dimensions?: number | undefined;
  /** Vectors are kept there and not asked for again. */
  readonly cacheDir?: string | undefined;
  /** Milliseconds that an answer may take. */
  readonly timeout?: number | undefined;
  /** Requests under way at once. */
  readonly concurrency?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
}

const OPENAI = "https://api.openai.com/v1";
const PAPERS = "text-embedding-3-large";

/** As the paper calls it. */
export const OPENAI_TEXT = { name: "OpenAItext", dimension: 3072 } as const;

/** Lengths of OpenAI's models; the third generation can be asked for shorter ones. */
const DIMENSIONS: Readonly<Record<string, number>> = {
  [PAPERS]: OPENAI_TEXT.dimension,
  "text-embedding-3-small": 1536,
  "text-embedding-ada-002": 1536,
};

/** Embeddings of OpenAI, or of a server with the same interface. */
export function openaiEncoder(options: OpenaiOptions): Encoder {
  const { model = PAPERS, dimensions, cacheDir, concurrency = 4 } = options;
  const endpoint = endpointOf(options, model);
  const { dimension } = endpoint;
  const cache = cacheDir === undefined ? undefined : new EmbeddingCache(cacheDir, model, dimension);
  let opened: Promise<void> | undefined;
  return {
    name: model === PAPERS && dimensions === undefined ? OPENAI_TEXT.name : model,
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
        abort.abort(); // of the requests that are under way when one has failed for good
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
      "has a name or a password in it",
      "leave them out, and put the key into OPENAI_API_KEY",
    );
  }
  if (!apiKey && baseUrl === OPENAI) {
    throw new InputError(
      { file: "OPENAI_API_KEY" },
      "is not set",
      "set it to a key of platform.openai.com, or OPENAI_BASE_URL to a server of your own",
    );
  }
  const own = DIMENSIONS[model];
  const dimension = dimensions ?? own;
  if (dimension === undefined || !(Number.isInteger(dimension) && dimension > 0)) {
    throw new InputError(
      { file: model, field: "dimensions" },
      dimension === undefined ? "is not known for this model" : `is ${dimension}`,
      "give the length of the model's vectors",
    );
  }
  // A model of another maker has one length, and most servers refuse to be asked for it.
  const asked = own !== undefined && dimension !== own ? dimension : undefined;
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/embeddings`;
  return { url: url.href, apiKey, model, dimension, asked, timeout, fetch: send };
}

/** Fills `vectors` from the cache and returns the texts that are not there. */
async function readCached(
  texts: ReadonlySet<string>,
  cache: EmbeddingCache | undefined,
  vectors: Map<string, Float32Array>,
): Promise<string[]> {
  if (cache) {
    // Not all at once: a process may not have that many files open.
    await inParallel([...texts], FILES_AT_ONCE, async (text) => {
      const vector = await cache.get(text);
      if (vector) vectors.set(text, vector);
    });
  }
  return [...texts].filter((text) => !vectors.has(text));
}

const FILES_AT_ONCE = 32;

/** Below the server's limits of 2,048 texts and 300,000 tokens, so that little is lost where one fails. */
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

/** On the safe side: English has some four bytes a token, other scripts and code two or three. */
function estimateTokens(text: string): number {
  return Math.ceil(Math.min(Buffer.byteLength(text), LONGEST) / 2);
}

/** The 8,191 tokens that a text may have, at four bytes each. */
const LONGEST = 4 * 8191;
const SHORTEST = 64;

/** An empty text is refused by the server; a full stop says as little. Long ones are cut. */
function sendable(text: string): string {
  return text.trim() === "" ? "." : cut(text, LONGEST);
}

/** The longest beginning of at most so many bytes of UTF-8. */
function cut(text: string, bytes: number): string {
  if (3 * text.length <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/**
 * The vectors of a batch. One that is refused as too long is halved, down to the
 * text at fault, and that is cut to a half until it fits: at one byte a token it
 * does. So a text's vector does not depend on the batch it was in.
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

/** `work` on every item, at most `width` at once; the first failure ends it. */
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
