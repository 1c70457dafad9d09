import { expect, it, onTestFinished } from "vitest";
import { ThreadEnded } from "../../../threads/thread.ts";
import { InferencePool } from "./inference-pool.ts";
import { InferenceThread } from "./inference-thread.ts";

/** InferencePool of a thread whose vector of a text is its length and the number of the lane's job. */
function stubs(...folders: [string, ...string[]]): InferencePool {
  const file = new URL("./stub.worker.fixture.ts", import.meta.url);
  const workers = folders.map(
    (folder) => new InferenceThread({ folder, int8: true, threads: 1 }, file),
  );
  const lanes = new InferencePool(workers as [InferenceThread, ...InferenceThread[]]);
  onTestFinished(() => lanes.close());
  return lanes;
}

const TEXTS = ["a", "bb", "ccc", "dddd", "eeeee"];
const lengthsOf = (vectors: Float32Array[]) => vectors.map(([length]) => length);

/** Texts are encoded until the last of them is done by another lane than the first. */
async function untilShared(lanes: InferencePool): Promise<Float32Array[]> {
  for (;;) {
    const vectors = await lanes.encode(TEXTS);
    const jobs = new Set(vectors.map(([, job]) => job));
    if (jobs.size > 1) return vectors;
  }
}

it("texts shared out come back in their places", async () => {
  const lanes = stubs("stub", "stub");
  expect(await lanes.open()).toEqual({ name: "stub", dimension: 2 });
  expect(lengthsOf(await lanes.encode(TEXTS))).toEqual([1, 2, 3, 4, 5]);
  const shared = await untilShared(lanes);
  expect(lengthsOf(shared)).toEqual([1, 2, 3, 4, 5]);
  const [first, second] = shared.map(([, job]) => job);
  expect(shared.map(([, job]) => job)).toEqual([first, second, first, second, first]);
});

it("one text is the first lane's", async () => {
  const lanes = stubs("stub", "stub");
  await untilShared(lanes);
  const [[, before]] = (await lanes.encode(["a"])) as [Float32Array];
  const [[, after]] = (await lanes.encode(["a"])) as [Float32Array];
  expect(after).toBe(before! + 1);
});

it("a lane that does not open is not used", async () => {
  const lanes = stubs("stub", "broken");
  for (let i = 0; i < 20; i++) {
    expect(lengthsOf(await lanes.encode(TEXTS))).toEqual([1, 2, 3, 4, 5]);
    await new Promise((done) => setTimeout(done, 10));
  }
});

it("a lane that crashes fails the texts once, and is there again", async () => {
  const lanes = stubs("stub", "stub");
  await untilShared(lanes);
  await expect(lanes.encode(["a", "exit"])).rejects.toThrow(ThreadEnded);
  expect(lengthsOf(await lanes.encode(TEXTS))).toEqual([1, 2, 3, 4, 5]);
});
