import { expect, it, onTestFinished } from "vitest";
import { errorText } from "../../../errors/error-text.fixture.ts";
import { InputError } from "../../../input/input-error.ts";
import { ThreadEnded } from "../../../threads/thread.ts";
import { InferenceThread } from "./inference-thread.ts";

function stub(folder = "stub"): InferenceThread {
  const file = new URL("./stub.worker.fixture.ts", import.meta.url);
  const worker = new InferenceThread({ folder, int8: false, threads: 1 }, file);
  onTestFinished(() => worker.close());
  return worker;
}

it("starts once, describes the model, and gives each caller its own result", async () => {
  const worker = stub();
  const [opened, ...answers] = await Promise.all([
    worker.open(),
    worker.encode(["a"], true),
    worker.encode(["four", "seven"], true),
  ]);
  expect(opened).toEqual({ name: "stub", dimension: 2 });
  expect(answers.map((vectors) => [...vectors])).toEqual([
    [1, 1],
    [4, 2, 5, 2],
  ]);
});

it("an InputError keeps its fields", async () => {
  const error = await stub("broken")
    .open()
    .catch((error: unknown) => error);
  expect(error).toBeInstanceOf(InputError);
  expect(error).toMatchObject({ file: "weights", line: 2, field: "w", hint: "look for it" });
  expect(String(error)).toContain('weights:2: field "w": is gone');
});

it("the next call retries a model that could not be opened", async () => {
  const worker = stub("broken");
  await expect(worker.encode(["a"], true)).rejects.toThrow(errorText("is gone"));
  await expect(worker.encode(["a"], true)).rejects.toThrow(errorText("is gone"));
});

it("a failed call does not affect others", async () => {
  const worker = stub();
  const jobs = [worker.encode(["fail"], true), worker.encode(["a"], true)];
  await expect(jobs[0]).rejects.toThrow(errorText("no such text"));
  expect([...(await jobs[1]!)]).toEqual([1, 2]);
});

it.each(["throw", "exit"])(
  "a crash (%s) rejects all waiting calls, and the next call succeeds",
  async (harm) => {
    const worker = stub();
    await worker.open();
    const jobs = [worker.encode([harm], true), worker.encode(["a"], true)];
    for (const job of jobs) {
      const error = await job.catch((error: unknown) => error);
      expect(error).toBeInstanceOf(ThreadEnded);
      expect(error).toEqual(errorText(/thread ended before it had answered; hint: /));
      expect(String((error as Error).cause)).toMatch(harm === "throw" ? /thrown/ : /exit code 3/);
    }
    expect([...(await worker.encode(["four"], true))]).toEqual([4, 1]);
  },
);
