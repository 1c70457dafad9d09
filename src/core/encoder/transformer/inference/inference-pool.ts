import type { InferenceThread } from "./inference-thread.ts";
import type { ModelDescription } from "./transformer.worker.ts";

/**
 * A model in several threads, of which each encodes texts of its own: the way to
 * use all cores where an operator is over too soon to be shared out. In 8 bits
 * MiniLM does 196 texts a second on one thread, 216 on two that share every
 * operator, and 364 on two that share the texts.
 *
 * One text goes to the first, and so does all until the others, which start when
 * several texts come, have opened the model.
 */
export class InferencePool {
  readonly #first: InferenceThread;
  readonly #others: readonly InferenceThread[];
  readonly #ready: InferenceThread[];
  #areStarted = false;

  constructor([first, ...others]: readonly [InferenceThread, ...InferenceThread[]]) {
    this.#first = first;
    this.#others = others;
    this.#ready = [first];
  }

  open(): Promise<ModelDescription> {
    return this.#first.open();
  }

  /** The vectors of the texts. */
  async encode(texts: readonly string[]): Promise<Float32Array[]> {
    const alone = texts.length === 1;
    if (!alone) this.#start();
    const lanes = this.#ready.slice(0, texts.length);
    const n = lanes.length;
    // Texts come sorted by length: dealt out in turn, all have as much to do.
    const shares = lanes.map((_, l) => texts.filter((_, k) => k % n === l));
    const done = await Promise.all(lanes.map((lane, l) => lane.encode(shares[l]!, alone)));
    const rows = done.map((vectors, l) => cut(vectors, shares[l]!.length));
    return texts.map((_, k) => rows[k % n]![Math.floor(k / n)]!);
  }

  async close(): Promise<void> {
    await Promise.all([this.#first, ...this.#others].map((lane) => lane.close()));
  }

  #start(): void {
    if (this.#areStarted) return;
    this.#areStarted = true;
    for (const lane of this.#others) {
      // One that does not open is not used: the first has opened the same model.
      lane.open().then(
        () => this.#ready.push(lane),
        () => {},
      );
    }
  }
}

function cut(vectors: Float32Array, count: number): Float32Array[] {
  const size = vectors.length / count;
  return Array.from({ length: count }, (_, i) => vectors.slice(i * size, (i + 1) * size));
}
