import { describe, expect, it, onTestFinished } from "vitest";
import { SecondAnswers } from "./second-answers.ts";

function newAnswers(limits: ConstructorParameters<typeof SecondAnswers>[1] = {}) {
  const clock = { now: 1000 };
  const seconds = new SecondAnswers(() => clock.now, limits);
  onTestFinished(() => seconds.close());
  const keep = (id: string, body: string, until = 2000) => {
    const running = seconds.begin(id, "ann", until);
    running.settle({ body });
    running.end();
  };
  return { seconds, clock, keep };
}

describe("second answers", () => {
  it("are found while they are made and afterwards", async () => {
    const { seconds } = newAnswers();
    const running = seconds.begin("d1", "ann", 2000);
    const found = seconds.find("d1")!;
    expect(found.owner).toBe("ann");
    running.settle({ body: "{}" });
    running.end();
    expect(await found.answer).toEqual({ body: "{}" });
    expect(await seconds.find("d1")!.answer).toEqual({ body: "{}" });
    expect(seconds.find("d2")).toBeUndefined();
  });

  it("end with the lifetime of their vote token", () => {
    const { seconds, clock, keep } = newAnswers();
    keep("d1", "12345");
    clock.now = 2000;
    expect(seconds.find("d1")).toBeDefined();
    clock.now = 2001;
    expect(seconds.find("d1")).toBeUndefined();
    expect(seconds.isEvicted("d1")).toBe(false);
    // The next answer frees the memory; without one, a timer does.
    keep("d2", "1", 5000);
    expect(seconds.size).toEqual({ bytes: 1, answers: 1 });
  });

  it("are limited in bytes and number; the oldest make room", () => {
    const { seconds, keep } = newAnswers({ bytes: 10, answerBytes: 6, answers: 3 });
    for (const id of ["d1", "d2", "d3"]) keep(id, "ä2"); // 3 bytes each
    keep("d4", "1");
    expect(["d1", "d2", "d3", "d4"].map((id) => seconds.isEvicted(id))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    keep("d5", "12345");
    expect(seconds.find("d2")).toBeUndefined();
    expect(seconds.size).toEqual({ bytes: 9, answers: 3 });
    // The list of those that made room is limited as well.
    for (let i = 0; i < 50; i++) keep(`more-${i}`, "1");
    expect(seconds.isEvicted("d1")).toBe(false);
    expect(seconds.size).toEqual({ bytes: 3, answers: 3 });
  });

  it("are not kept if one of them is too large", async () => {
    const { seconds, keep } = newAnswers({ answerBytes: 4 });
    keep("d1", "12345");
    expect(await seconds.find("d1")!.answer).toEqual({ missing: "too_large" });
    expect(seconds.size.bytes).toBe(0);
  });

  it("that were cancelled are forgotten, and their model is stopped", async () => {
    const { seconds } = newAnswers();
    const running = seconds.begin("d1", "ann", 2000);
    const { answer } = seconds.find("d1")!;
    running.cancel();
    expect(running.signal.aborted).toBe(true);
    expect(await answer).toEqual({ missing: "failed" });
    running.settle({ body: "late" });
    running.end();
    expect(seconds.find("d1")).toBeUndefined();
    expect(seconds.size).toEqual({ bytes: 0, answers: 0 });
  });

  it("are made up to a number at a time, and closing waits for them", async () => {
    const { seconds } = newAnswers({ running: 2 });
    const [one, two] = ["d1", "d2"].map((id) => seconds.begin(id, undefined, 2000));
    expect(seconds.hasRoom).toBe(false);
    one!.end();
    expect(seconds.hasRoom).toBe(true);
    let isClosed = false;
    const closing = seconds.close().then(() => {
      isClosed = true;
    });
    expect(two!.signal.aborted).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    two!.end();
    await closing;
  });
});
