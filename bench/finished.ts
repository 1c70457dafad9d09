import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/**
 * Numbers that took long, kept under out/ by what they depend on: a bench that was stopped goes on.
 * The code is not part of the key: delete the file where that has changed.
 */
export class Finished {
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
