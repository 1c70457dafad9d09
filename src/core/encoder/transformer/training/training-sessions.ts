/**
 * The graphs of training in onnxruntime, each made when it is first needed. Few
 * of them, for each keeps the memory that its largest batch took.
 */
import type { InferenceSession } from "onnxruntime-node";
import type { Feed } from "../graph/batch.ts";
import type { Graph } from "../graph/graph.ts";
import { onnxBytes } from "../graph/onnx.ts";
import { loadOnnxruntime, tensorOf } from "../onnxruntime.ts";

export interface TrainingSessionOptions {
  /** As many as there are cores, if not given. Another number gives other last bits. */
  readonly threads?: number | undefined;
}

export class TrainingSessions {
  readonly #options: InferenceSession.SessionOptions;
  readonly #sessions = new Map<string, Promise<InferenceSession>>();

  constructor({ threads }: TrainingSessionOptions) {
    this.#options = {
      // Its optimizer would find that Gelu is computed twice and keep the first result: 13% more memory.
      graphOptimizationLevel: "disabled",
      // A pattern is for one shape, and every batch has its own: 5% more memory for nothing.
      enableMemPattern: false,
      ...(threads !== undefined && { intraOpNumThreads: threads }),
    };
  }

  /** `outputs` names arrays that results are written to; the others come back. */
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
