import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Keeps numbers that take long to compute in a file under out/, so that an interrupted benchmark
 * continues. The code is not part of the key: delete the file after a change of the code.
 */
export class NumberCache {
  readonly #file: string;
  readonly #numbers: Record<string, number>;

  constructor(name: string) {
    this.#file = resolve(import.meta.dirname, "../out", `${name}.json`);
    this.#numbers = read(this.#file);
  }

  async get(key: unknown, work: () => Promise<number>): Promise<number> {
    const name = JSON.stringify(key);
    const known = this.#numbers[name];
    if (known !== undefined) return known;
    const found = await work();
    this.#numbers[name] = found;
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, `${JSON.stringify(this.#numbers, null, 1)}\n`);
    return found;
  }
}

function read(file: string): Record<string, number> {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw error;
  }
}
