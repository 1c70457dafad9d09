import { EmbeddingCache } from "./common/embedding-cache.ts";
import type { OpenEncoder } from "./open-encoder.ts";

export interface EncodeOptions {
  /** Folder that caches the embeddings of slow encoders for the next run. */
  readonly cacheDir?: string | undefined;
  readonly onProgress?: ((progress: EncodeProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface EncodeProgress {
  readonly done: number;
  readonly total: number;
  /** Estimated time left; undefined until the first chunk is done. */
  readonly millisecondsLeft: number | undefined;
}

/** Texts per chunk: enough to sort by length, and few enough for frequent progress reports. */
const CHUNK = 256;

/** Encodes many texts and reports progress. Throws the signal's reason when aborted. */
export async function encodeAll(
  encoder: OpenEncoder,
  texts: readonly string[],
  { cacheDir, onProgress, signal }: EncodeOptions = {},
): Promise<Float64Array[]> {
  const encode =
    cacheDir !== undefined && isSlow(encoder) ? cached(encoder, cacheDir) : plain(encoder);
  const vectors: Float64Array[] = [];
  const start = performance.now();
  for (let i = 0; i < texts.length; i += CHUNK) {
    signal?.throwIfAborted();
    const done = vectors.length;
    const pace = (performance.now() - start) / done;
    const millisecondsLeft = done > 0 ? pace * (texts.length - done) : undefined;
    onProgress?.({ done, total: texts.length, millisecondsLeft });
    for (const vector of await encode(texts.slice(i, i + CHUNK))) vectors.push(vector);
  }
  return vectors;
}

function plain(encoder: OpenEncoder): OpenEncoder["encode"] {
  return (texts) => encoder.encode(texts);
}

/** The hash and static encoders are faster than a disk, and the OpenAI encoder has a cache of its own. */
function isSlow({ kind }: OpenEncoder): boolean {
  return kind === "transformer";
}

function cached(encoder: OpenEncoder, folder: string): OpenEncoder["encode"] {
  const cache = new EmbeddingCache(folder, encoder.identity, encoder.dimension);
  return async (texts) => {
    const vectors = new Map<string, Float32Array>();
    for (const text of texts) {
      const known = await cache.get(text);
      if (known) vectors.set(text, known);
    }
    const missing = [...new Set(texts)].filter((text) => !vectors.has(text));
    const made = missing.length > 0 ? await encoder.encode(missing) : [];
    for (const [i, text] of missing.entries()) {
      // Rounded to float32 as in the cache, so that the next run has the same numbers.
      const vector = Float32Array.from(made[i]!);
      vectors.set(text, vector);
      await cache.put(text, vector);
    }
    return texts.map((text) => Float64Array.from(vectors.get(text)!));
  };
}
