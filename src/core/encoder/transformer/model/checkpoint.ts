/** Reads the weights of a model, model.safetensors in one file or several, and checks them against the architecture. */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { InputError } from "../../../input/input-error.ts";
import { readJsonIfAny } from "../../../input/json.ts";
import { type Architecture, type Kind, weightShapes } from "./architecture.ts";
import { readSafetensors, type Safetensors, type Tensor } from "./safetensors.ts";

export interface Checkpoint {
  /** Weights by the architecture's names. Includes weights that it does not use, such as pooler.*. */
  readonly weights: ReadonlyMap<string, Tensor>;
  /** Name of each weight in the file, by the architecture's name. */
  readonly namesInFile: ReadonlyMap<string, string>;
}

export async function readCheckpoint(
  folder: string,
  architecture: Architecture,
): Promise<Checkpoint> {
  const { file, tensors, others } = await readTensors(folder);
  const weights = new Map<string, Tensor>();
  const namesInFile = new Map<string, string>();
  for (const [nameInFile, tensor] of tensors) {
    const name = canonical(architecture.kind, nameInFile);
    const twin = namesInFile.get(name);
    if (twin !== undefined) {
      throw new InputError(
        { file, field: nameInFile },
        `is the same weight as ${twin}`,
        "take the checkpoint from the model's own folder",
      );
    }
    weights.set(name, tensor);
    namesInFile.set(name, nameInFile);
  }
  const types = new Map(
    [...others].map(([name, type]) => [canonical(architecture.kind, name), type]),
  );
  for (const [name, dims] of weightShapes(architecture)) {
    check({ file, field: name }, dims, weights.get(name), types.get(name));
  }
  return { weights, namesInFile };
}

/** Removes the prefix of models that have a head on top, and replaces the old names of LayerNorm's weights. */
function canonical(kind: Kind, name: string): string {
  const bare = name.startsWith(`${kind}.`) ? name.slice(kind.length + 1) : name;
  return bare
    .replace(/\.LayerNorm\.gamma$/, ".LayerNorm.weight")
    .replace(/\.LayerNorm\.beta$/, ".LayerNorm.bias");
}

function check(
  place: { file: string; field: string },
  expected: readonly number[],
  tensor: Tensor | undefined,
  otherType: string | undefined,
): void {
  const shape = `[${expected.join(", ")}]`;
  if (otherType !== undefined) {
    throw new InputError(
      place,
      `has type ${otherType} instead of a float ${shape}`,
      "use a float32, float16 or bfloat16 checkpoint: quantised checkpoints are not supported",
    );
  }
  if (!tensor) throw new InputError(place, `is missing; expected ${shape}`, OWN);
  if (tensor.dims.length !== expected.length || tensor.dims.some((dim, i) => dim !== expected[i])) {
    throw new InputError(
      place,
      `has shape [${tensor.dims.join(", ")}], but config.json makes it ${shape}`,
      OWN,
    );
  }
  // 0 * x is NaN if x is NaN or infinite, so the sum is NaN if any weight is not finite.
  let sum = 0;
  for (let i = 0; i < tensor.data.length; i++) sum += 0 * tensor.data[i]!;
  if (sum === 0) return;
  throw new InputError(
    place,
    "contains a number that is not finite",
    "use an earlier checkpoint of the training, or download the file again",
  );
}

const OWN = "take config.json and the checkpoint from the same model's folder";

interface Tensors extends Safetensors {
  /** File to name in error messages. */
  readonly file: string;
}

async function readTensors(folder: string): Promise<Tensors> {
  const index = join(folder, "model.safetensors.index.json");
  const whole = join(folder, "model.safetensors");
  const names = await readdir(folder);
  if (names.includes(basename(whole))) return { file: whole, ...(await readSafetensors(whole)) };
  const shards = await readJsonIfAny(index, INDEX, "take the file from the model's own folder");
  if (shards) return { file: index, ...(await readShards(index, shards.weight_map, folder)) };
  const old = names.find((name) => /^pytorch_model.*\.bin$/.test(name));
  throw new InputError(
    { file: whole },
    "does not exist",
    old === undefined
      ? "copy or download the model again: its weights must be in model.safetensors"
      : `save the model again with safe_serialization=True: ${old} is in PyTorch's own format`,
  );
}

const SHARD = /^[^/\\]+\.safetensors$/;
const INDEX = z.object({
  weight_map: z.record(z.string(), z.string().regex(SHARD, "is not a file X.safetensors")),
});

async function readShards(
  index: string,
  weightMap: Readonly<Record<string, string>>,
  folder: string,
): Promise<Safetensors> {
  const tensors = new Map<string, Tensor>();
  const others = new Map<string, string>();
  for (const shard of new Set(Object.values(weightMap))) {
    const read = await readSafetensors(join(folder, shard));
    for (const [name, tensor] of read.tensors) tensors.set(name, tensor);
    for (const [name, type] of read.others) others.set(name, type);
  }
  for (const [name, shard] of Object.entries(weightMap)) {
    if (tensors.has(name) || others.has(name)) continue;
    throw new InputError(
      { file: index, field: name },
      `should be in ${shard}, but is not`,
      "take the index and its files from the same folder",
    );
  }
  return { tensors, others };
}
