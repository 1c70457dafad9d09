/** The encoder that runs a transformer (BERT or MPNet). */
import { availableParallelism } from "node:os";
import { ThreadEnded } from "../../../threads/thread.ts";
import type { Encoder } from "../../common/encoder.ts";
import { InferencePool } from "./inference-pool.ts";
import { InferenceThread } from "./inference-thread.ts";
import { Lru } from "./lru.ts";
import { MicroBatcher } from "./micro-batch.ts";

export interface TransformerOptions {
  /** Dense layers in 8 bits: two to three times as fast, with a cosine of 0.993 to float32. */
  readonly int8?: boolean | undefined;
  /** Number of threads. Default: the number of cores, at most four. On a busy machine one is better. */
  readonly threads?: number | undefined;
  /** Size in bytes of the cache of embeddings. */
  readonly cacheSize?: number | undefined;
}

/**
 * Opens a model in a thread of its own, so that the caller's thread is never
 * blocked. A text's batch changes its embedding only by rounding errors.
 */
export async function openTransformer(
  folder: string,
  { int8 = false, threads = THREADS, cacheSize = 64e6 }: TransformerOptions = {},
): Promise<TransformerEncoder> {
  const start = (threads: number) => new InferenceThread({ folder, int8, threads });
  // In float32 one thread is enough: its operators are long enough to use all cores.
  const others = Array.from({ length: int8 ? threads - 1 : 0 }, () => start(1));
  const pool = new InferencePool([start(threads), ...others]);
  const { name, dimension } = await pool.open();
  return new TransformerEncoder(name, dimension, pool, cacheSize);
}

const THREADS = Math.min(4, availableParallelism());

/**
 * Most texts in a batch. Another caller waits for at most one batch, which takes a
 * third of a second with MiniLM. Twice as many texts would save 1% of padding.
 */
const BATCH = 32;

/** The encoder that `openTransformer` opens. */
export class TransformerEncoder implements Encoder {
  readonly name: string;
  readonly dimension: number;
  readonly #pool: InferencePool;
  readonly #cache: Lru<Float32Array>;
  readonly #batcher: MicroBatcher<string, Float32Array>;
  #closed = false;

  constructor(name: string, dimension: number, pool: InferencePool, cacheSize: number) {
    this.name = name;
    this.dimension = dimension;
    this.#pool = pool;
    this.#cache = new Lru(cacheSize, sizeOf);
    this.#batcher = new MicroBatcher((texts) => this.#run(texts), BATCH);
  }

  async encode(texts: readonly string[]): Promise<Float64Array[]> {
    if (this.#closed) throw new Error("the encoder is closed");
    const found = new Map<string, Float32Array | undefined>();
    for (const text of texts) if (!found.has(text)) found.set(text, this.#cache.get(text));
    // Texts of similar length in one batch need little padding.
    const missing = [...found.keys()]
      .filter((text) => !found.get(text))
      .sort((a, b) => a.length - b.length);
    const vectors = await this.#batcher.submit(missing);
    for (const [i, text] of missing.entries()) found.set(text, vectors[i]!);
    return texts.map((text) => new Float64Array(found.get(text)!));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#batcher.fail(new Error("the encoder was closed"));
    await this.#pool.close();
  }

  async #run(texts: readonly string[]): Promise<Float32Array[]> {
    const vectors = await this.#pool.encode(texts).catch((error: unknown) => {
      if (error instanceof ThreadEnded) this.#batcher.fail(error);
      throw error;
    });
    for (const [k, text] of texts.entries()) this.#cache.set(text, vectors[k]!);
    return vectors;
  }
}

/** Bytes of a cache entry: the text in UTF-16, the embedding, and the overhead of the map. */
function sizeOf(text: string, vector: Float32Array): number {
  return 2 * text.length + vector.byteLength + 200;
}
