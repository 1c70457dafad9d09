/** Replaces transformer.worker.ts: the embedding of a text is its length and the number of the call. Some texts make it fail. */
import { workerData } from "node:worker_threads";
import { InputError } from "../../../input/input-error.ts";
import { Moved, serve } from "../../../threads/serve.ts";
import type { ModelOptions, TransformerMethods } from "./transformer.worker.ts";

const { folder } = workerData as ModelOptions;
let calls = 0;

serve(
  (): TransformerMethods => {
    if (folder === "broken")
      throw new InputError({ file: "weights", line: 2, field: "w" }, "is gone", "look for it");
    return {
      describe: () => ({ name: folder, dimension: 2 }),
      async encode(texts) {
        const call = ++calls;
        if (texts.includes("throw")) {
          queueMicrotask(() => {
            throw new Error("thrown");
          });
          await new Promise(() => {});
        }
        if (texts.includes("exit")) process.exit(3);
        if (texts.includes("fail")) throw new Error("no such text");
        const vectors = Float32Array.from(texts.flatMap(({ length }) => [length, call]));
        return new Moved(vectors, [vectors.buffer]);
      },
    };
  },
  { oneAtATime: true },
);
