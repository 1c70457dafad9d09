/**
 * onnxruntime sessions of the training graphs, each created when it is first
 * needed. There are few of them, because each keeps the memory of its largest batch.
 */
import type { InferenceSession } from "onnxruntime-node";
import type { Feed } from "../graph/batch.ts";
import type { Graph } from "../graph/graph.ts";
import { onnxBytes } from "../graph/onnx.ts";
import { loadOnnxruntime, tensorOf } from "../onnxruntime.ts";

export interface TrainingSessionOptions {
  /** Number of threads. Default: the number of cores. Other numbers change the last bits of the result. */
  readonly threads?: number | undefined;
}

export class TrainingSessions {
  readonly #options: InferenceSession.SessionOptions;
  readonly #sessions = new Map<string, Promise<InferenceSession>>();

  constructor({ threads }: TrainingSessionOptions) {
    this.#options = {
      // The optimizer would see that Gelu is computed twice and keep the first result: 13% more memory.
      graphOptimizationLevel: "disabled",
      // A memory pattern serves one shape, but every batch has a different one: 5% more memory for
      // nothing.
      enableMemPattern: false,
      ...(threads !== undefined && { intraOpNumThreads: threads }),
    };
  }

  /** Runs a graph. Results are written to the arrays in `outputs`; the returned function gives any result by name. */
  async run(
    key: string,
    build: () => Graph,
    inputs: ReadonlyMap<string, Feed>,
    outputs: ReadonlyMap<string, Feed> = new Map(),
  ): Promise<(name: string) => Float32Array> {
    const onnxruntime = await loadOnnxruntime();
    const tensor = (feed: Feed) => tensorOf(onnxruntime, feed);
    const session = await this.#session(key, build);
    const fetches = session.outputNames.map((name) => {
      const own = outputs.get(name);
      return [name, own ? tensor(own) : null] as const;
    });
    const feeds = session.inputNames.map((name) => [name, tensor(inputs.get(name)!)] as const);
    const results = await session.run(Object.fromEntries(feeds), Object.fromEntries(fetches));
    return (name) => results[name]!.data as Float32Array;
  }

  async release(): Promise<void> {
    for (const session of this.#sessions.values()) await (await session).release();
    this.#sessions.clear();
  }

  #session(key: string, build: () => Graph): Promise<InferenceSession> {
    const known = this.#sessions.get(key);
    if (known) return known;
    const made = this.#create(build());
    this.#sessions.set(key, made);
    return made;
  }

  async #create(graph: Graph): Promise<InferenceSession> {
    const { InferenceSession } = await loadOnnxruntime();
    return InferenceSession.create(onnxBytes(graph), this.#options);
  }
}
