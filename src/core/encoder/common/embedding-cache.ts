import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../input/input-error.ts";
import { replaceFile } from "../../input/replace-file.ts";
import { codeOf } from "../../input/system-error.ts";

/**
 * A cache of embeddings, one file each. The file's name is the hash of model,
 * dimension and text, so that no text is on the disk. The file holds 8 bytes of
 * SHA-256, then the numbers as float32. A damaged file is ignored and written
 * again. Files are renamed into place when they are complete, so several
 * processes can share the folder.
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
    const numbers = new Uint8Array(bytes.subarray(DIGEST)); // copied for alignment
    if (!digest(numbers).equals(bytes.subarray(0, DIGEST))) return undefined;
    return new Float32Array(numbers.buffer);
  }

  /** Creates the folder. Throws an InputError if it cannot be written. */
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
        `cannot be written (${reason}), so every embedding would be paid for again`,
        "name a folder that you may write to",
      );
    }
  }

  /** Stores the embedding. Errors such as a full disk are ignored: the caller has the embedding already. */
  async put(text: string, vector: Float32Array): Promise<void> {
    const path = this.#path(text);
    const numbers = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
    await replaceFile(path, Buffer.concat([digest(numbers), numbers])).catch(() => {});
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
