import { describe, expect, it, vi } from "vitest";
import { ByteQueue } from "./byte-queue.ts";

const flow = () => ({ pause: vi.fn(), resume: vi.fn(), stop: vi.fn() });
const bytes = (text: string) => Buffer.from(text);
const textOf = (result: IteratorResult<Uint8Array>) => Buffer.from(result.value).toString();

describe("ByteQueue", () => {
  it("keeps the order and joins waiting bytes to one piece", async () => {
    const queue = new ByteQueue(flow());
    for (const text of ["a", "b", "c"]) queue.push(bytes(text));
    expect(textOf(await queue.next())).toBe("abc");
    queue.push(bytes("d"));
    queue.close();
    expect(textOf(await queue.next())).toBe("d");
    expect(await queue.next()).toEqual({ done: true, value: undefined });
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });

  it("gives a waiting reader one burst as one piece, and a single chunk uncopied", async () => {
    const queue = new ByteQueue(flow());
    let waiting = queue.next();
    queue.push(bytes("a"));
    queue.push(bytes("b"));
    expect(textOf(await waiting)).toBe("ab");
    waiting = queue.next();
    const alone = bytes("c");
    queue.push(alone);
    expect((await waiting).value).toBe(alone);
  });

  it("throws its error once, after the waiting bytes were read", async () => {
    const queue = new ByteQueue(flow());
    queue.push(bytes("a"));
    queue.close(new Error("broke"));
    expect(textOf(await queue.next())).toBe("a");
    await expect(queue.next()).rejects.toThrow("broke");
    expect((await queue.next()).done).toBe(true);
  });

  it("ends for a waiting reader, with or without an error", async () => {
    const well = new ByteQueue(flow());
    const waiting = well.next();
    well.close();
    expect((await waiting).done).toBe(true);
    const ill = new ByteQueue(flow());
    const failing = ill.next();
    ill.close(new Error("broke"));
    await expect(failing).rejects.toThrow("broke");
  });

  it("gives a waiting reader the bytes before the end, if both come at once", async () => {
    const queue = new ByteQueue(flow());
    const waiting = queue.next();
    queue.push(bytes("a"));
    queue.close(new Error("broke"));
    expect(textOf(await waiting)).toBe("a");
    await expect(queue.next()).rejects.toThrow("broke");
  });

  it("drops bytes that are pushed after the end", async () => {
    const queue = new ByteQueue(flow());
    queue.close();
    queue.push(bytes("late"));
    expect((await queue.next()).done).toBe(true);
  });
});

describe("the flow of a ByteQueue", () => {
  it("is paused when many bytes wait, and resumed when they are read", async () => {
    const held = flow();
    const queue = new ByteQueue(held);
    queue.push(Buffer.alloc(65_535));
    expect(held.pause).not.toHaveBeenCalled();
    queue.push(Buffer.alloc(1));
    queue.push(Buffer.alloc(1));
    expect(held.pause).toHaveBeenCalledTimes(1);
    await queue.next();
    expect(held.resume).toHaveBeenCalledTimes(1);
  });

  it("is stopped once when the reader leaves", async () => {
    const held = flow();
    const queue = new ByteQueue(held);
    queue.push(bytes("a"));
    for await (const _ of queue) break;
    await queue.return();
    expect(held.stop).toHaveBeenCalledTimes(1);
    expect((await queue.next()).done).toBe(true);
  });
});
