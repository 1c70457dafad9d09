/**
 * What a training has reached, in a folder: checkpoint.json, which says how far
 * it is and names the file of its tensors. The tensors are written first and
 * checkpoint.json is replaced in one move, so a kill at any moment leaves a
 * whole checkpoint, the new one or the one before.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import {
  readSafetensors,
  type Tensor,
  writeSafetensors,
} from "../encoder/transformer/model/safetensors.ts";
import { InputError } from "../input/input-error.ts";
import { readJsonIfAny } from "../input/json.ts";

export interface CheckpointOptions {
  /** Whatever decides how the training goes; a checkpoint of another is refused. */
  readonly plan: unknown;
  readonly initial: readonly Float32Array[];
  /** Saved, and restored in place. */
  readonly state: Readonly<Record<string, ReadonlyMap<string, Tensor>>>;
  /** Milliseconds. */
  readonly every: number;
}

const FILE = "checkpoint.json";
const SHAPE = z.object({
  plan: z.string(),
  losses: z.array(z.number()),
  tensors: z.string().regex(/^state-\d+\.safetensors$/),
});
const REMEDY = "give another folder, or remove this one to begin anew";

export class TrainingCheckpoint {
  readonly #folder: string;
  readonly #plan: string;
  readonly #tensors: ReadonlyMap<string, Tensor>;
  readonly #every: number;
  #saved = performance.now();

  constructor(folder: string, { plan, initial, state, every }: CheckpointOptions) {
    this.#folder = folder;
    this.#plan = digest(plan, initial);
    this.#every = every;
    this.#tensors = new Map(
      Object.entries(state).flatMap(([part, tensors]) =>
        [...tensors].map(([name, tensor]) => [`${part} ${name}`, tensor] as const),
      ),
    );
  }

  isDue(): boolean {
    return performance.now() - this.#saved >= this.#every;
  }

  /** `losses` of the steps done. */
  async save(losses: readonly number[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const tensors = `state-${losses.length}.safetensors`;
    await rm(join(this.#folder, tensors), { force: true }); // of a run killed while it wrote
    await writeSafetensors(join(this.#folder, tensors), this.#tensors);
    const draft = join(this.#folder, `${FILE}.tmp`);
    await writeFile(draft, JSON.stringify({ plan: this.#plan, losses, tensors }));
    await rename(draft, join(this.#folder, FILE));
    for (const name of await readdir(this.#folder)) {
      if (name.startsWith("state-") && name !== tensors) await rm(join(this.#folder, name));
    }
    this.#saved = performance.now();
  }

  /** The losses of the steps done; undefined where there is no checkpoint. */
  async restore(): Promise<number[] | undefined> {
    const file = join(this.#folder, FILE);
    const found = await readJsonIfAny(file, SHAPE, REMEDY);
    if (!found) return undefined;
    if (found.plan !== this.#plan) {
      throw new InputError({ file }, "is of a training with other data or settings", REMEDY);
    }
    const source = join(this.#folder, found.tensors);
    const { tensors } = await readSafetensors(source);
    for (const [name, { data }] of this.#tensors) {
      const stored = tensors.get(name);
      if (stored?.data.length !== data.length) {
        throw new InputError({ file: source, field: name }, "is missing or misshaped", REMEDY);
      }
    }
    for (const [name, { data }] of this.#tensors) data.set(tensors.get(name)!.data);
    return found.losses;
  }
}

function digest(plan: unknown, initial: readonly Float32Array[]): string {
  const hash = createHash("sha256").update(JSON.stringify(plan));
  for (const { buffer, byteOffset, byteLength } of initial) {
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.digest("hex");
}
