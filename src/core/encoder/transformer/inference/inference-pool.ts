import type { InferenceThread } from "./inference-thread.ts";
import type { ModelDescription } from "./transformer.worker.ts";

/**
 * Several threads with the same model, which share the texts. This is how to use
 * all cores in 8 bits, where operators are too short to be divided among threads:
 * MiniLM encodes 196 texts per second on one thread, 216 on two threads that share
 * every operator, and 364 on two threads that share the texts.
 *
 * A single text always goes to the first thread. The others start with the first
 * call that has several texts, and are used once they have opened the model.
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

  async encode(texts: readonly string[]): Promise<Float32Array[]> {
    const alone = texts.length === 1;
    if (!alone) this.#start();
    const threads = this.#ready.slice(0, texts.length);
    const n = threads.length;
    // Texts are sorted by length, so taking every n-th gives each thread the same amount of work.
    const shares = threads.map((_, t) => texts.filter((_, k) => k % n === t));
    const done = await Promise.all(threads.map((thread, t) => thread.encode(shares[t]!, alone)));
    const rows = done.map((vectors, t) => split(vectors, shares[t]!.length));
    return texts.map((_, k) => rows[k % n]![Math.floor(k / n)]!);
  }

  async close(): Promise<void> {
    await Promise.all([this.#first, ...this.#others].map((thread) => thread.close()));
  }

  #start(): void {
    if (this.#areStarted) return;
    this.#areStarted = true;
    for (const thread of this.#others) {
      // A thread that cannot open the model is not used: the first thread has opened it.
      thread.open().then(
        () => this.#ready.push(thread),
        () => {},
      );
    }
  }
}

function split(vectors: Float32Array, count: number): Float32Array[] {
  const size = vectors.length / count;
  return Array.from({ length: count }, (_, i) => vectors.slice(i * size, (i + 1) * size));
}
