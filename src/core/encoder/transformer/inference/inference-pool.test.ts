import { expect, it, onTestFinished } from "vitest";
import { ThreadEnded } from "../../../threads/thread.ts";
import { InferencePool } from "./inference-pool.ts";
import { InferenceThread } from "./inference-thread.ts";

/** A pool of stub threads. The embedding of a text is its length and the number of the thread's call. */
function stubs(...folders: [string, ...string[]]): InferencePool {
  const file = new URL("./stub.worker.fixture.ts", import.meta.url);
  const workers = folders.map(
    (folder) => new InferenceThread({ folder, int8: true, threads: 1 }, file),
  );
  const pool = new InferencePool(workers as [InferenceThread, ...InferenceThread[]]);
  onTestFinished(() => pool.close());
  return pool;
}

const TEXTS = ["a", "bb", "ccc", "dddd", "eeeee"];
const lengthsOf = (vectors: Float32Array[]) => vectors.map(([length]) => length);

/** Encodes the texts until a second thread takes part. */
async function untilShared(pool: InferencePool): Promise<Float32Array[]> {
  for (;;) {
    const vectors = await pool.encode(TEXTS);
    const jobs = new Set(vectors.map(([, job]) => job));
    if (jobs.size > 1) return vectors;
  }
}

it("returns the embeddings in the order of the texts", async () => {
  const pool = stubs("stub", "stub");
  expect(await pool.open()).toEqual({ name: "stub", dimension: 2 });
  expect(lengthsOf(await pool.encode(TEXTS))).toEqual([1, 2, 3, 4, 5]);
  const shared = await untilShared(pool);
  expect(lengthsOf(shared)).toEqual([1, 2, 3, 4, 5]);
  const [first, second] = shared.map(([, job]) => job);
  expect(shared.map(([, job]) => job)).toEqual([first, second, first, second, first]);
});

it("gives a single text to the first thread", async () => {
  const pool = stubs("stub", "stub");
  await untilShared(pool);
  const [[, before]] = (await pool.encode(["a"])) as [Float32Array];
  const [[, after]] = (await pool.encode(["a"])) as [Float32Array];
  expect(after).toBe(before! + 1);
});

it("does not use a thread that cannot open the model", async () => {
  const pool = stubs("stub", "broken");
  for (let i = 0; i < 20; i++) {
    expect(lengthsOf(await pool.encode(TEXTS))).toEqual([1, 2, 3, 4, 5]);
    await new Promise((done) => setTimeout(done, 10));
  }
});

it("rejects a call whose thread crashes, and restarts the thread", async () => {
  const pool = stubs("stub", "stub");
  await untilShared(pool);
  await expect(pool.encode(["a", "exit"])).rejects.toThrow(ThreadEnded);
  expect(lengthsOf(await pool.encode(TEXTS))).toEqual([1, 2, 3, 4, 5]);
});
