import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { Listener, type Receiver } from "./listener.ts";

const LIMITS = { total: 1000, perAddress: 1000, writeMs: 1000 };

/** A process that keeps the connections that it gets. */
function newReceiver(listener: () => Listener, idle: () => boolean = () => false) {
  const sockets: Socket[] = [];
  const full = new Set<string>();
  const receiver: Receiver = {
    pass: (socket, address) => {
      sockets.push(socket);
      socket.on("close", () => listener().closed(receiver, address));
      socket.resume();
    },
    makeRoom: async () => {
      const oldest = idle() ? sockets.shift() : undefined;
      if (!oldest) return false;
      const closed = once(oldest, "close");
      oldest.destroy();
      await closed;
      return true;
    },
    setFull: (address, isFull) => void (isFull ? full.add(address) : full.delete(address)),
  };
  return { receiver, sockets, full };
}

async function openListener(limits = LIMITS) {
  let refused = 0;
  const listener = new Listener(limits, () => refused++);
  await listener.open({ host: "127.0.0.1", port: 0 });
  const clients: Socket[] = [];
  onTestFinished(() => {
    listener.close();
    for (const client of clients) client.destroy();
  });
  const dial = async () => {
    const client = connect(Number(new URL(listener.url).port), "127.0.0.1");
    client.on("error", () => {});
    clients.push(client);
    await once(client, "connect");
    return client;
  };
  return { listener, dial, refused: () => refused };
}

describe("the connections of a machine", () => {
  it("go to the process that has the fewest, and none to one that is about to end", async () => {
    const { listener, dial } = await openListener();
    const [one, two] = [newReceiver(() => listener), newReceiver(() => listener)];
    listener.add(one.receiver);
    listener.add(two.receiver);
    for (let i = 0; i < 10; i++) await dial();
    await expect.poll(() => [one.sockets.length, two.sockets.length]).toEqual([5, 5]);
    listener.retire(one.receiver);
    for (let i = 0; i < 4; i++) await dial();
    await expect.poll(() => two.sockets.length).toBe(9);
    expect(one.sockets).toHaveLength(5);
  });

  it("wait while no process is ready", async () => {
    const { listener, dial } = await openListener();
    await Promise.all([dial(), dial()]);
    const late = newReceiver(() => listener);
    listener.add(late.receiver);
    await expect.poll(() => late.sockets.length).toBe(2);
  });

  it("are counted for all processes: those of one that has ended are gone", async () => {
    const limits = { total: 4, perAddress: 4, writeMs: 1000 };
    const { listener, dial } = await openListener(limits);
    const [one, two] = [newReceiver(() => listener), newReceiver(() => listener)];
    listener.add(one.receiver);
    listener.add(two.receiver);
    for (let i = 0; i < 6; i++) await dial();
    for (const { full } of [one, two]) {
      await expect.poll(() => [...full].toSorted()).toEqual(["", "127.0.0.1"]);
    }
    listener.remove(one.receiver);
    await expect.poll(() => two.full.size).toBe(0);
  });

  it("above the limits make room for each other, and beyond the reserve they are refused", async () => {
    const limits = { total: 2, perAddress: 2, writeMs: 1000 };
    const { listener, dial, refused } = await openListener(limits);
    let isIdle = true;
    const one = newReceiver(
      () => listener,
      () => isIdle,
    );
    listener.add(one.receiver);
    const first = await dial();
    const closed = once(first, "close");
    await dial();
    await dial();
    await closed;
    expect(one.full.size).toBe(0);
    isIdle = false;
    // 32 connections are reserved for health checks and administration.
    for (let i = 0; i < 33; i++) await dial();
    await expect.poll(refused).toBe(1);
  });
});
