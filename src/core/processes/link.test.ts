import { duplexPair } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../input/input-error.ts";
import { type CallMessage, Calls } from "./calls.ts";
import { Link } from "./link.ts";

/** Two links that are connected. */
function newLinks(): [Link, Link] {
  const [a, b] = duplexPair();
  return [new Link(a), new Link(b)];
}

describe("a link", () => {
  it("carries messages in the order of their lane, with typed arrays and large ones", async () => {
    const [a, b] = newLinks();
    const received: unknown[] = [];
    const large = new Float64Array(200_000).fill(1.5);
    const done = Promise.withResolvers<void>();
    b.receive(1, (message) => {
      received.push(message);
      if (received.length === 3) done.resolve();
    });
    a.send(1, { text: "one", none: undefined });
    a.send(1, large);
    a.send(1, new Map([["x", Uint8Array.of(1, 2)]]));
    await done.promise;
    expect(received).toEqual([
      { text: "one", none: undefined },
      large,
      new Map([["x", Uint8Array.of(1, 2)]]),
    ]);
  });

  it("reads frames however the stream cuts them", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string(), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 40 }),
        async (messages, cut) => {
          const [near, far] = duplexPair();
          const sender = new Link(near);
          const [relay, end] = duplexPair();
          const receiver = new Link(end);
          const received: unknown[] = [];
          const done = Promise.withResolvers<void>();
          receiver.receive(7, (message) => {
            received.push(message);
            if (received.length === messages.length) done.resolve();
          });
          far.on("data", (chunk: Buffer) => {
            for (let i = 0; i < chunk.length; i += cut) relay.write(chunk.subarray(i, i + cut));
          });
          for (const message of messages) sender.send(7, message);
          await done.promise;
          expect(received).toEqual(messages);
        },
      ),
      { seed: 1, numRuns: 50 },
    );
  });

  it("passes bytes on without reading them, and tells when the other end is gone", async () => {
    const [a, middle] = newLinks();
    const [other, b] = newLinks();
    middle.receiveBytes(2, (payload) => other.forward(2, payload));
    const received = new Promise((found) => b.receive(2, found));
    a.send(2, ["news", 5]);
    expect(await received).toEqual(["news", 5]);
    const gone = new Promise<void>((done) => a.onEnd(done));
    await Promise.all([gone, a.close()]);
    a.send(2, "late");
  });
});

describe("calls", () => {
  function newCalls(handlers: object): Calls {
    const [a, b] = newLinks();
    const callee = new Calls({ send: (message) => b.send(1, message), handlers });
    b.receive(1, (message) => callee.receive(message));
    const caller = new Calls({ send: (message: CallMessage) => a.send(1, message) });
    a.receive(1, (message) => caller.receive(message));
    return caller;
  }

  it("return values and errors with their class and fields", async () => {
    const calls = newCalls({
      add: (a: number, b: number) => a + b,
      fail: () => {
        throw new InputError({ file: "f", line: 2 }, "is gone", "look for it");
      },
    });
    expect(await calls.call("add", 1, 2)).toBe(3);
    const error = await calls.call("fail").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InputError);
    expect(error).toMatchObject({ file: "f", line: 2, problem: "is gone" });
    await expect(calls.call("nothing")).rejects.toThrow("is not a function");
  });

  it("are rejected when the other side has lost them or has ended", async () => {
    const calls = newCalls({ hang: () => new Promise(() => {}), ok: () => "ok" });
    const lost = calls.call("hang");
    calls.reject(new Error("lost"));
    await expect(lost).rejects.toThrow("lost");
    expect(await calls.call("ok")).toBe("ok");
    const waiting = calls.call("hang");
    calls.end(new Error("ended"));
    await expect(waiting).rejects.toThrow("ended");
    await expect(calls.call("ok")).rejects.toThrow("ended");
  });
});
