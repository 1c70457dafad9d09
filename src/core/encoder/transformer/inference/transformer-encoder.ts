/** A BERT or MPNet of a folder as an encoder. */
import { availableParallelism } from "node:os";
import { ThreadEnded } from "../../../threads/thread.ts";
import type { Encoder } from "../../common/encoder.ts";
import { InferencePool } from "./inference-pool.ts";
import { InferenceThread } from "./inference-thread.ts";
import { Lru } from "./lru.ts";
import { MicroBatcher } from "./micro-batch.ts";

export interface TransformerOptions {
  /** Dense layers in 8 bits: two to three times as fast, at a cosine of 0.993 to float32. */
  readonly int8?: boolean | undefined;
  /** Default: the machine's, up to four. One is better where other work is going on. */
  readonly threads?: number | undefined;
  /** Bytes for the vectors of texts met before. */
  readonly cacheSize?: number | undefined;
}

/**
 * Opens the model in a thread of its own; the caller's is never blocked. The
 * batch that a text is in changes its vector by rounding errors only.
 */
export async function openTransformer(
  folder: string,
  { int8 = false, threads = THREADS, cacheSize = 64e6 }: TransformerOptions = {},
): Promise<TransformerEncoder> {
  const lane = (threads: number) => new InferenceThread({ folder, int8, threads });
  // In float32 the operators are long enough to be shared out.
  const others = Array.from({ length: int8 ? threads - 1 : 0 }, () => lane(1));
  const lanes = new InferencePool([lane(threads), ...others]);
  const { name, dimension } = await lanes.open();
  return new TransformerEncoder(name, dimension, lanes, cacheSize);
}

const THREADS = Math.min(4, availableParallelism());

/**
 * Texts in one job of the worker: what another caller has to wait for at most, a
 * third of a second of MiniLM. With twice as many, padding costs 1% less.
 */
const JOB = 32;

/** See `openTransformer`. */
export class TransformerEncoder implements Encoder {
  readonly name: string;
  readonly dimension: number;
  readonly #lanes: InferencePool;
  readonly #cache: Lru<Float32Array>;
  readonly #batcher: MicroBatcher<string, Float32Array>;
  #closed = false;

  constructor(name: string, dimension: number, lanes: InferencePool, cacheSize: number) {
    this.name = name;
    this.dimension = dimension;
    this.#lanes = lanes;
    this.#cache = new Lru(cacheSize, sizeOf);
    this.#batcher = new MicroBatcher((texts) => this.#run(texts), JOB);
  }

  async encode(texts: readonly string[]): Promise<Float64Array[]> {
    if (this.#closed) throw new Error("the encoder is closed");
    const found = new Map<string, Float32Array | undefined>();
    for (const text of texts) if (!found.has(text)) found.set(text, this.#cache.get(text));
    // Texts of like length in one batch need little padding.
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
    await this.#lanes.close();
  }

  async #run(texts: readonly string[]): Promise<Float32Array[]> {
    const vectors = await this.#lanes.encode(texts).catch((error: unknown) => {
      if (error instanceof ThreadEnded) this.#batcher.fail(error);
      throw error;
    });
    for (const [k, text] of texts.entries()) this.#cache.set(text, vectors[k]!);
    return vectors;
  }
}

/** UTF-16, float32, and what the map itself needs. */
function sizeOf(text: string, vector: Float32Array): number {
  return 2 * text.length + vector.byteLength + 200;
}
