/** Kinds of jobs for tests: quick, and as different from each other as possible. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../core/input/input-error.ts";
import type { Context, FileRef, JobId, Kind } from "./job.ts";

const code = () => [new URL(import.meta.url)];

/** Numbers 1 .. n as a matrix. */
const count: Kind = {
  code,
  async run(spec) {
    const { n } = spec as { n: number };
    return {
      value: { n },
      matrix: { columns: 2, data: Float32Array.from({ length: n }, (_, i) => i + 1) },
    };
  },
};

/** The sum of the matrices it needs. */
const sum: Kind = {
  code,
  async run(spec, context) {
    let total = 0;
    for (const id of (spec as { of: readonly JobId[] }).of) {
      const { matrix } = await context.input(id);
      for (const value of matrix?.data ?? []) total += value;
    }
    return { value: { total } };
  },
};

const fail: Kind = {
  code,
  async run(spec) {
    const { input } = spec as { input: boolean };
    if (input) throw new InputError({ file: "data.jsonl", line: 3 }, "is empty", "fill it");
    throw new Error("out of luck");
  },
};

/** The first time it never ends unless it is stopped; the second time it finds its file and ends at once. */
const stubborn: Kind = {
  code,
  async run(_, context: Context) {
    const place = join(await context.folder(), "place");
    if (existsSync(place)) return { value: await readFile(place, "utf8") };
    await writeFile(place, "half-way");
    for (;;) {
      context.check(0.5);
      await new Promise((next) => setTimeout(next, 5));
    }
  },
};

/** Takes the number of milliseconds in its spec. */
const slow: Kind = {
  code,
  async run(spec, context) {
    const { milliseconds, i } = spec as { milliseconds: number; i: number };
    for (let t = 0; t < milliseconds; t += 20) {
      context.check();
      await new Promise((next) => setTimeout(next, 20));
    }
    return { value: { i } };
  },
};

const words: Kind = {
  code,
  async run(spec, context) {
    const { file } = spec as { file: FileRef };
    const text = await readFile(context.path(file), "utf8");
    return { value: { words: text.split(" ").length } };
  },
};

export default { count, sum, fail, stubborn, slow, words } satisfies Record<string, Kind>;
