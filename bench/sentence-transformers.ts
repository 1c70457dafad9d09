import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Contender } from "./encode.ts";

/** sentence-transformers in a Python process that stays alive and measures its own time. */
export async function openSentenceTransformers(
  python: string,
  model: string,
  threads: number,
): Promise<Contender> {
  const script = fileURLToPath(import.meta.resolve("./encode.py"));
  const child = spawn(python, [script, model, String(threads)], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const readLine = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${script} stopped unexpectedly; run it by hand to see the error`);
    return JSON.parse(value) as unknown;
  };
  await readLine();
  return {
    name: "sentence-transformers",
    async time(texts, one) {
      child.stdin.write(`${JSON.stringify({ texts, batch: one ? 1 : 32 })}\n`);
      return (await readLine()) as number;
    },
    async close() {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}
