import { InferenceSession, Tensor } from "onnxruntime-node";
import type { Graph } from "./graph.ts";
import { onnxBytes } from "./onnx.ts";

interface Feed {
  readonly dims: readonly number[];
  readonly data: Float32Array | Int32Array;
}

/** Runs the graph in onnxruntime and returns its outputs. */
export async function runInOnnxruntime(
  graph: Graph,
  feeds: ReadonlyMap<string, Feed>,
): Promise<Map<string, Float32Array>> {
  const session = await InferenceSession.create(onnxBytes(graph), {
    graphOptimizationLevel: "disabled",
    intraOpNumThreads: 1,
  });
  const tensors = graph.inputs.map(({ name, type }) => {
    const { dims, data } = feeds.get(name)!;
    return [name, new Tensor(type, data, dims)] as const;
  });
  const results = await session.run(Object.fromEntries(tensors));
  await session.release();
  return new Map(Object.entries(results).map(([name, { data }]) => [name, data as Float32Array]));
}
