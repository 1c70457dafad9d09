import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InputError } from "../../input/input-error.ts";
import { codeOf } from "../../input/system-error.ts";

/**
 * Vectors that were paid for, one file each: its name is the hash of model,
 * length and text, so neither text nor key is on the disk; its content 8 bytes
 * of SHA-256 and the numbers as float32. A file that does not fit is passed
 * over, and written again. A file is moved into place when it is whole, so any
 * number of processes may share the folder.
 */
export class EmbeddingCache {
  readonly #folder: string;
  readonly #model: string;
  readonly #dimension: number;

  constructor(folder: string, model: string, dimension: number) {
    this.#folder = folder;
    this.#model = model;
    this.#dimension = dimension;
  }

  async get(text: string): Promise<Float32Array | undefined> {
    const bytes = await readFile(this.#path(text)).catch(() => undefined);
    if (bytes?.length !== DIGEST + 4 * this.#dimension) return undefined;
    const numbers = new Uint8Array(bytes.subarray(DIGEST)); // a copy begins aligned
    if (!digest(numbers).equals(bytes.subarray(0, DIGEST))) return undefined;
    return new Float32Array(numbers.buffer);
  }

  /** Makes the folder; an InputError where nothing can be kept there. */
  async open(): Promise<void> {
    const probe = join(this.#folder, `.${process.pid}.tmp`);
    try {
      await mkdir(this.#folder, { recursive: true });
      await writeFile(probe, "");
      await rm(probe);
    } catch (error) {
      const reason = codeOf(error) || String(error);
      throw new InputError(
        { file: this.#folder },
        `cannot be written (${reason}), so every vector would be paid for again`,
        "name a folder that you may write to",
      );
    }
  }

  /** Keeps the vector; a disk that is full by now costs money later, but nobody an answer. */
  async put(text: string, vector: Float32Array): Promise<void> {
    const path = this.#path(text);
    const numbers = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
    const draft = `${path}.${process.pid}.tmp`;
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(draft, Buffer.concat([digest(numbers), numbers]));
      await rename(draft, path);
    } catch {
      await rm(draft, { force: true }).catch(() => {});
    }
  }

  #path(text: string): string {
    const key = JSON.stringify([this.#model, this.#dimension, text]);
    const name = createHash("sha256").update(key).digest("hex");
    return join(this.#folder, name.slice(0, 2), `${name.slice(2)}.f32`);
  }
}

const DIGEST = 8;
function digest(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest().subarray(0, DIGEST);
}
