/**
 * The state of a training in a folder: checkpoint.json holds the losses so far and
 * the name of the file of tensors. The tensors are written first, and checkpoint.json
 * is replaced by a rename, so that a kill at any moment leaves a complete checkpoint,
 * either the new one or the previous one.
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
  /** Everything that determines the training. A checkpoint with another plan is rejected. */
  readonly plan: unknown;
  /** The weights before training, which are part of the plan. */
  readonly initial: readonly Float32Array[];
  /** Tensors to save, and to restore in place. */
  readonly state: Readonly<Record<string, ReadonlyMap<string, Tensor>>>;
  /** Milliseconds between checkpoints. */
  readonly every: number;
}

const FILE = "checkpoint.json";
const SHAPE = z.object({
  plan: z.string(),
  losses: z.array(z.number()),
  tensors: z.string().regex(/^state-\d+\.safetensors$/, "is not a file state-N.safetensors"),
});
const HINT = "give another folder, or remove this one to start over";

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

  /** Saves the state and the losses of the finished steps. */
  async save(losses: readonly number[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const tensors = `state-${losses.length}.safetensors`;
    await rm(join(this.#folder, tensors), { force: true }); // left by a run that was killed
    await writeSafetensors(join(this.#folder, tensors), this.#tensors);
    const draft = join(this.#folder, `${FILE}.tmp`);
    await writeFile(draft, JSON.stringify({ plan: this.#plan, losses, tensors }));
    await rename(draft, join(this.#folder, FILE));
    for (const name of await readdir(this.#folder)) {
      if (name.startsWith("state-") && name !== tensors) await rm(join(this.#folder, name));
    }
    this.#saved = performance.now();
  }

  /** Restores the state and returns the losses of the finished steps, or undefined if there is no checkpoint. */
  async restore(): Promise<number[] | undefined> {
    const file = join(this.#folder, FILE);
    const found = await readJsonIfAny(file, SHAPE, HINT);
    if (!found) return undefined;
    if (found.plan !== this.#plan) {
      throw new InputError({ file }, "belongs to a training with other data or settings", HINT);
    }
    const source = join(this.#folder, found.tensors);
    const { tensors } = await readSafetensors(source);
    for (const [name, { data }] of this.#tensors) {
      const stored = tensors.get(name);
      if (stored?.data.length !== data.length) {
        throw new InputError({ file: source, field: name }, "is missing or has another size", HINT);
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
