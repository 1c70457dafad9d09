import type { Tensor } from "onnxruntime-node";
import { InputError } from "../../input/input-error.ts";
import { codeOf } from "../../input/system-error.ts";
import type { Feed } from "./graph/batch.ts";

export type Onnxruntime = typeof import("onnxruntime-node");

/**
 * The version that embeddings are tested with. The install script is skipped: it
 * only downloads GPU libraries, and fails without a connection to their host.
 */
export const INSTALL_COMMAND = "npm install --ignore-scripts onnxruntime-node@1.30.0";

/**
 * Loads onnxruntime-node. It is an optional peer dependency, because only
 * transformers need it and it is larger than everything else together.
 */
export async function loadOnnxruntime(
  load: () => Promise<Onnxruntime> = () => import("onnxruntime-node"),
): Promise<Onnxruntime> {
  try {
    return await load();
  } catch (error) {
    const isMissing = codeOf(error) === "ERR_MODULE_NOT_FOUND";
    throw new InputError(
      { file: "onnxruntime-node" },
      isMissing
        ? "is not installed, and transformer encoders run on it"
        : `cannot be loaded: ${String(error)}`,
      INSTALL_COMMAND,
    );
  }
}

export function tensorOf({ Tensor }: Onnxruntime, { dims, data }: Feed): Tensor {
  return data instanceof Int32Array
    ? new Tensor("int32", data, dims)
    : new Tensor("float32", data, dims);
}
