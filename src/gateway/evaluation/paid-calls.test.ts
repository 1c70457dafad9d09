import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StandingClock } from "../clock/clock.fixture.ts";
import { newFolder } from "../gateway.fixture.ts";
import { UpstreamError } from "../providers/upstream/error.ts";
import { concurrently } from "./concurrently.ts";
import { Journal } from "./journal.ts";
import { openCalls, simulatedModel } from "./models.fixture.ts";

const messages = (content: string) => [{ role: "user", content }];

describe("the dollar limit", () => {
  it("is never exceeded by calls at the same time, failures, lost answers and kills", async () => {
    const call = fc.record({
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      fault: fc.constantFrom("none", "none", "none", "status", "timeout", "no usage"),
      ticks: fc.nat(3),
      killed: fc.nat(20).map((n) => n === 0),
    });
    const plan = fc.array(call, { minLength: 1, maxLength: 40 });
    const property = fc.asyncProperty(
      plan,
      fc.integer({ min: 1, max: 20 }),
      async (plans, size) => {
        const file = join(newFolder(), "journal.jsonl");
        // A call with an empty prompt and 100 tokens can cost about this much.
        const most = 0.0004;
        const dollars = (most * plans.length) / size;
        let charged = 0;
        for (const isResumed of [false, true]) {
          const { calls, limit, journal } = await openCalls(file, dollars);
          const model = simulatedModel("m", async (prompt, request) => {
            const { share, fault, ticks } = plans[Number(prompt)]!;
            for (let i = 0; i < ticks; i++) await Promise.resolve();
            const bound = (1.5 * request.body.length + 2 * 100) / 1e6;
            // A model that timed out, or does not report its usage, may have charged everything.
            if (fault === "status") return { error: "status" };
            charged += fault === "none" ? share * bound : bound;
            if (fault === "timeout") return { error: "timeout" };
            return { text: "ok", cost: fault === "none" ? share * bound : undefined };
          });
          await Promise.all(
            plans.map((_, i) => calls.call(model, `key ${i}`, messages(String(i)))),
          );
          expect(charged).toBeLessThanOrEqual(dollars * (1 + 1e-12));
          expect(limit.spent).toBeLessThanOrEqual(dollars * (1 + 1e-12));
          expect(journal.spent).toBeGreaterThanOrEqual(charged * (1 - 1e-12));
          journal.close();
          if (isResumed) continue;
          // A kill loses the last lines: the ends of calls that were sent before.
          const lines = readFileSync(file, "utf8").split("\n");
          const kept = lines.filter(
            (line, i) => line.includes('"sent"') || !plans[i % plans.length]!.killed,
          );
          writeFileSync(file, kept.join("\n"));
        }
      },
    );
    await fc.assert(property, { seed: 17, numRuns: 60 });
  });

  it("does not call a model without a price unless a price is assumed", async () => {
    const model = simulatedModel("m", () => ({ text: "ok" }), null!);
    const one = await openCalls(join(newFolder(), "journal.jsonl"), 1);
    expect(await one.calls.call(model, "k", messages("?"))).toEqual({ status: "unaffordable" });
    const assumedPrice = { input: 10, output: 20 };
    const two = await openCalls(join(newFolder(), "journal.jsonl"), 1, { assumedPrice });
    expect(await two.calls.call(model, "k", messages("?"))).toMatchObject({ status: "ok" });
    expect(two.limit.spent).toBeGreaterThan(0.002);
  });

  it("reserves more after an upstream has charged more than its list price", async () => {
    const { calls } = await openCalls(join(newFolder(), "journal.jsonl"), 1);
    const model = simulatedModel("m", () => ({ text: "ok", cost: 0.01 }));
    const before = calls.mostOf(model, 100)!;
    await calls.call(model, "k", messages("?"));
    expect(calls.mostOf(model, 100)! / before).toBeGreaterThan(10);
  });
});

describe("a journal", () => {
  it("keeps answers, so that nothing is paid twice, and ignores a torn last line", async () => {
    const file = join(newFolder(), "journal.jsonl");
    let requests = 0;
    const model = simulatedModel("m", () => ({ text: `answer ${++requests}`, cost: 0.0001 }));
    const first = await openCalls(file, 1);
    await first.calls.call(model, "k", messages("?"));
    first.journal.close();
    appendFileSync(file, '{"kind":"sent","ca');
    const second = await openCalls(file, 1);
    expect(await second.calls.call(model, "k", messages("?"))).toMatchObject({
      status: "ok",
      answer: { text: "answer 1" },
    });
    await second.calls.call(model, "other", messages("?"));
    second.journal.close();
    const third = await Journal.open(file);
    expect([third.answer("k")!.text, third.answer("other")!.text]).toEqual([
      "answer 1",
      "answer 2",
    ]);
    expect(third.spent).toBeCloseTo(0.0002, 12);
    third.close();
  });

  it("lies in a folder that only its owner reads", async () => {
    const folder = join(newFolder(), "joust-evaluation");
    const { journal } = await openCalls(join(folder, "journal.jsonl"), 1);
    journal.close();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it("sends a prompt once if two comparisons need its answer at the same time", async () => {
    const { calls } = await openCalls(join(newFolder(), "journal.jsonl"), 1);
    let requests = 0;
    const model = simulatedModel("m", () => ({ text: `${++requests}`, cost: 0 }));
    await Promise.all([1, 2, 3].map(() => calls.call(model, "k", messages("?"))));
    expect(requests).toBe(1);
  });
});

it("counts failures during a call that succeeds", async () => {
  const { calls } = await openCalls(join(newFolder(), "journal.jsonl"), 1, { retries: 0 });
  const slow = Promise.withResolvers<{ readonly text: string }>();
  const model = simulatedModel("m", (prompt) =>
    prompt === "slow" ? slow.promise : { error: "status" },
  );
  const running = calls.call(model, "slow", messages("slow"));
  await calls.call(model, "other", messages("other"));
  slow.resolve({ text: "done" });
  expect(await running).toMatchObject({ status: "ok" });
  expect(calls.failures.get("m")).toMatchObject({ count: 1, inRow: 0 });
});

it("retries, and gives up a model that fails again and again", async () => {
  const { calls, limit } = await openCalls(join(newFolder(), "journal.jsonl"), 1, { retries: 1 });
  let requests = 0;
  const model = simulatedModel("m", () =>
    ++requests === 1 ? { error: "broken" } : { error: "status" },
  );
  for (let i = 0; i < 9; i++) {
    expect(await calls.call(model, `${i}`, messages("?"))).toMatchObject({ status: "failed" });
  }
  expect(calls.hasGivenUp("m")).toBe(true);
  expect(calls.failures.get("m")).toMatchObject({ count: 5 });
  expect(requests).toBeLessThanOrEqual(10);
  // Only the broken answer may have been charged.
  expect(limit.spent).toBeGreaterThan(0);
  expect(limit.spent).toBeLessThan(0.001);
});

describe("a limit of the rate", () => {
  /** A model that refuses its first calls because it gets too many. */
  const busyModel = (refusals: number, retryAfter: number) => {
    let requests = 0;
    return simulatedModel("m", () => {
      if (++requests > refusals) return { text: `after ${requests}`, cost: 0 };
      throw new UpstreamError("status", "m", "is busy", { status: 429, retryAfter });
    });
  };

  it("is waited for without counting as a failure", async () => {
    const { calls } = await openCalls(join(newFolder(), "journal.jsonl"), 1, { retries: 1 });
    const result = await calls.call(busyModel(6, 1000), "k", messages("?"));
    expect(result).toMatchObject({ status: "ok", answer: { text: "after 7" } });
    expect(calls.failures.get("m")).toMatchObject({ count: 0 });
  });

  it("counts as a failure in the end", async () => {
    const { calls } = await openCalls(join(newFolder(), "journal.jsonl"), 1, { retries: 1 });
    const result = await calls.call(busyModel(7, 60_000), "k", messages("?"));
    expect(result).toEqual({ status: "failed", reason: "m is busy" });
  });
});

describe("an outage", () => {
  /** A model that refuses calls while `isDown`, and the results of 60 calls of which `count` run at the same time. */
  const outage = async (isDown: (now: number, prompt: string) => boolean, count: number) => {
    const clock = new StandingClock();
    const ends = new Set<number>();
    // Waits at the same time: the clock moves to the end of the shortest one when nothing else can go on.
    clock.sleep = async (milliseconds) => {
      const end = clock.now() + milliseconds;
      ends.add(end);
      while (clock.now() < end) {
        await setImmediate();
        clock.pass(Math.max(0, Math.min(...ends) - clock.now()));
      }
      ends.delete(end);
    };
    const settings = { retries: 2 };
    const { calls } = await openCalls(join(newFolder(), "journal.jsonl"), 1, settings, clock);
    const reply = (prompt: string) => {
      if (!isDown(clock.now(), prompt)) return { text: "yes", cost: 0 };
      throw new UpstreamError("status", "m", "is down", { status: 503 });
    };
    const model = simulatedModel("m", reply, undefined, clock);
    const statuses: string[] = [];
    const prompts = Array.from({ length: 60 }, (_, i) => String(i)).values();
    await concurrently(
      count,
      () => prompts.next().value,
      async (prompt) => {
        statuses.push((await calls.call(model, prompt, messages(prompt))).status);
      },
    );
    const answered = statuses.filter((status) => status === "ok").length;
    return { answered, failures: calls.failures.get("m")!, calls, seconds: clock.now() / 1000 };
  };

  it.each([1, 8])("is waited for by %i calls at a time", async (count) => {
    const { answered, failures } = await outage((now) => now < 3000, count);
    expect(answered).toBe(60);
    expect(failures.count).toBe(0);
  });

  it.each([1, 8])("ends the calls of a model that stays dead, %i at a time", async (count) => {
    const { answered, failures, calls, seconds } = await outage(() => true, count);
    expect(answered).toBe(0);
    expect(calls.hasGivenUp("m")).toBe(true);
    // Calls that run at the same time may fail together.
    expect(failures.count).toBeGreaterThanOrEqual(5);
    expect(failures.count).toBeLessThan(5 + count);
    expect(failures.count + failures.leftOut).toBe(60);
    expect(seconds).toBeGreaterThan(120);
    expect(seconds).toBeLessThan(300);
  });

  it("is not assumed while other prompts are answered", async () => {
    const { answered, failures, seconds } = await outage((_, prompt) => prompt === "3", 8);
    expect(answered).toBe(59);
    expect(failures.count).toBe(1);
    expect(seconds).toBeLessThan(10);
  });
});

it("names the error of a model, not that of its circuit breaker", async () => {
  const { calls } = await openCalls(join(newFolder(), "journal.jsonl"), 1);
  const model = simulatedModel("m", () => ({ error: "broken" }));
  const all = Array.from({ length: 12 }, (_, i) => calls.call(model, `${i}`, messages("?")));
  const reasons = (await Promise.all(all)).map((one) => one.status === "failed" && one.reason);
  expect(new Set(reasons)).toEqual(new Set(["m fails"]));
});
