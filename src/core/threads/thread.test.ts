import { spawnSync } from "node:child_process";
import { describe, expect, it, onTestFinished } from "vitest";
import { InputError } from "../input/input-error.ts";
import { Pool } from "./pool.ts";
import type { StubMethods, StubOptions } from "./stub.worker.fixture.ts";
import { Thread, ThreadEnded, type ThreadOptions } from "./thread.ts";

const FILE = new URL("./stub.worker.fixture.ts", import.meta.url);

class StubError extends Error {}

function start(workerData: StubOptions = {}, options: ThreadOptions = {}): Thread<StubMethods> {
  const thread = new Thread<StubMethods>(FILE, { workerData, errors: [StubError], ...options });
  onTestFinished(() => thread.terminate());
  return thread;
}

const caught = (promise: Promise<unknown>) => promise.catch((error: unknown) => error);

describe("a call", () => {
  it("resolves with the result of its method", async () => {
    const { methods } = start();
    expect(await Promise.all([methods.add(1, 2), methods.add(3, 4)])).toEqual([3, 7]);
  });

  it("receives moved memory, which the worker no longer has", async () => {
    const { methods } = start();
    expect(await methods.move()).toEqual(new Float32Array([1, 2, 3]));
    expect(await methods.movedLength()).toBe(0);
  });

  it("rejects with the error's class, fields and cause", async () => {
    const { methods } = start();
    const input = await caught(methods.fail("input"));
    expect(input).toBeInstanceOf(InputError);
    expect(input).toMatchObject({ name: "InputError", file: "f", line: 2, problem: "is gone" });
    const stub = await caught(methods.fail("stub"));
    expect(stub).toBeInstanceOf(StubError);
    expect(stub).toMatchObject({ name: "StubError", message: "failed", reason: "stub" });
    expect((stub as Error).stack).toContain("stub.worker.fixture");
    expect((stub as Error).cause).toBeInstanceOf(RangeError);
    expect(await caught(methods.fail("range"))).toBeInstanceOf(RangeError);
  });

  it("rejects if the method does not exist or its result cannot be copied", async () => {
    const { methods } = start();
    const unknown = methods as unknown as { nothing(): Promise<void> };
    await expect(unknown.nothing()).rejects.toThrow("is not a function");
    await expect(methods.returnFunction()).rejects.toThrow("could not be cloned");
    expect(await methods.add(1, 2)).toBe(3);
  });

  it("overlaps with other calls", async () => {
    const { methods } = start();
    const held = methods.hold("a");
    await methods.release("a");
    expect(await held).toBe("a");
  });

  it("waits for the previous one if the worker serves one at a time", async () => {
    const { methods } = start({ oneAtATime: true });
    await Promise.all([methods.pause("a"), methods.pause("b")]);
    expect(await methods.log()).toEqual(["start a", "end a", "start b", "end b"]);
  });
});

it("events reach the parent in order, before the response", async () => {
  const events: unknown[] = [];
  const { methods } = start({}, { onEvent: (event) => events.push(event) });
  await Promise.all([methods.emit({ n: 1 }), methods.emit("two")]);
  expect(events).toEqual([{ n: 1 }, "two"]);
});

it("an error of opening rejects all calls, and the thread ends", async () => {
  const thread = start({ failOpening: true });
  const early = caught(thread.methods.add(1, 2));
  const error = await caught(thread.opened);
  expect(error).toBeInstanceOf(StubError);
  expect(error).toMatchObject({ message: "cannot open", reason: "stub" });
  expect(await early).toBe(error);
  expect(thread.isEnded).toBe(true);
  expect(await caught(thread.methods.add(1, 2))).toBe(error);
  await thread.ended;
  await thread.close();
});

describe("a crash", () => {
  it.each(["crash", "exit"] as const)("(%s) rejects all waiting calls", async (kind) => {
    const thread = start();
    await thread.opened;
    const crashing = kind === "crash" ? thread.methods.hold("b") : thread.methods.exit(3);
    const calls = [thread.methods.hold("a"), crashing].map(caught);
    if (kind === "crash") thread.methods.crash().catch(() => {});
    for (const error of await Promise.all(calls)) {
      expect(error).toBeInstanceOf(ThreadEnded);
      const { cause } = error as Error;
      expect(String(cause)).toMatch(kind === "crash" ? /StubError: thrown/ : /exit code 3/);
      if (kind === "crash") expect(cause).toBeInstanceOf(StubError);
    }
    await expect(thread.methods.add(1, 2)).rejects.toThrow(ThreadEnded);
    await thread.close();
  });

  it("can have an error of the caller's own", async () => {
    const thread = start({}, { endedError: (cause) => new RangeError(cause?.message ?? "closed") });
    await expect(thread.methods.exit(4)).rejects.toThrow(new RangeError("exit code 4"));
    const other = start({}, { endedError: (cause) => new RangeError(cause?.message ?? "closed") });
    await other.close();
    await expect(other.methods.add(1, 2)).rejects.toThrow(new RangeError("closed"));
  });
});

describe("close", () => {
  it("lets the waiting calls finish and accepts no others", async () => {
    const thread = start();
    const held = thread.methods.hold("a");
    const released = thread.methods.release("a");
    const closed = thread.close();
    expect(thread.isEnded).toBe(true);
    await expect(thread.methods.add(1, 2)).rejects.toThrow(ThreadEnded);
    await Promise.all([held, released, closed, thread.close()]);
  });

  it("rejects with the error of onClose, and the thread ends all the same", async () => {
    const thread = start({ failClosing: true });
    await expect(thread.close()).rejects.toThrow("cannot close");
    await thread.ended;
  });

  it("lets onClose end a worker that has timers", async () => {
    await start({ timer: true }).close();
  });

  it("does not cut off the output", () => {
    const { stdout } = run(`
      await thread.methods.print("x".repeat(1e6));
      await thread.close();
    `);
    expect(stdout.length).toBe(1e6 + "closed\n".length);
  });
});

it("an idle thread does not keep the process alive, and a waiting call does", () => {
  const { status, stdout } = run(`
    thread.methods.pause("a").then(() => console.log("answered"));
  `);
  expect({ status, stdout }).toEqual({ status: 0, stdout: "answered\n" });
});

it("standard output of the worker can go to standard error", () => {
  const { stdout, stderr } = run(
    `
      await thread.methods.print("printed\\n");
      await thread.close();
    `,
    { stdoutToStderr: true },
  );
  expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "printed\nclosed\n" });
});

/** Runs a script with a thread in a process of its own. */
function run(script: string, options: ThreadOptions = {}) {
  const all = { workerData: { printAtEnd: true }, ...options };
  const text = `
    import { Thread } from ${JSON.stringify(new URL("./thread.ts", import.meta.url).href)};
    const thread = new Thread(new URL(${JSON.stringify(FILE.href)}), ${JSON.stringify(all)});
    ${script}
  `;
  const args = ["--disable-warning=ExperimentalWarning", "-e", text];
  return spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 1e8 });
}

describe("a pool", () => {
  function pool(size: number): { pool: Pool<StubMethods>; started: number[] } {
    const started: number[] = [];
    const pool = new Pool<StubMethods>(size, (slot) => {
      started.push(slot);
      return start();
    });
    return { pool, started };
  }

  it("starts threads when they are needed and runs one job per thread", async () => {
    const { pool: threads, started } = pool(2);
    const opened: string[] = [];
    const gates = ["a", "b", "c"].map(() => Promise.withResolvers<void>());
    const jobs = gates.map(({ promise }, k) =>
      threads.run(async (methods, slot) => {
        opened.push(`${k} on ${slot}`);
        await promise;
        return methods.add(k, 10);
      }),
    );
    expect(started).toEqual([0, 1]);
    expect(opened).toEqual(["0 on 0", "1 on 1"]);
    gates[1]!.resolve();
    expect(await jobs[1]).toBe(11);
    gates[0]!.resolve();
    gates[2]!.resolve();
    expect(await Promise.all(jobs)).toEqual([10, 11, 12]);
    expect(opened[2]).toBe("2 on 1");
    expect(await threads.run((methods) => methods.add(1, 1))).toBe(2);
    expect(started).toEqual([0, 1]);
    await threads.close();
  });

  it("replaces a thread that crashed", async () => {
    const { pool: threads, started } = pool(1);
    const jobs = [
      threads.run((methods) => methods.exit(3)),
      threads.run((methods) => methods.add(1, 2)),
    ];
    await expect(jobs[0]).rejects.toThrow(ThreadEnded);
    expect(await jobs[1]).toBe(3);
    expect(started).toEqual([0, 0]);
  });

  it.each(["close", "terminate"] as const)("rejects queued jobs after %s", async (end) => {
    const { pool: threads } = pool(1);
    const first = caught(threads.run((methods) => methods.pause("a")));
    const queued = caught(threads.run((methods) => methods.add(1, 2)));
    await threads[end]();
    if (end === "close") expect(await first).toBeUndefined();
    else expect(await first).toBeInstanceOf(ThreadEnded);
    expect(await queued).toBeInstanceOf(ThreadEnded);
    await expect(threads.run((methods) => methods.add(1, 2))).rejects.toThrow(ThreadEnded);
  });
});
