import { duplexPair } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { Link } from "../../core/processes/link.ts";
import { configured, vote } from "../events.fixture.ts";
import { newFiles } from "../folder.fixture.ts";
import { SqliteStore } from "../sqlite/sqlite-store.ts";
import { conforms } from "../store.case.ts";
import type { Change } from "../store.ts";
import { StoreUnavailable } from "../store-error.ts";
import { HostThread } from "./host-thread.ts";
import { openRemoteStore, type RemoteStore } from "./remote-store.ts";
import { StoreHost } from "./store-host.ts";

const newFile = newFiles();
const LANE = 3;

/** A host that clients can be linked to. */
interface TestHost {
  receive(client: number, payload: Uint8Array): void;
  remove(client: number): unknown;
}

/** Links clients to a host, each over a stream of its own. */
function clientsOf(host: () => TestHost) {
  const links = new Map<number, Link>();
  const open = (): RemoteStore & { readonly client: number } => {
    const client = links.size + 1;
    const [near, far] = duplexPair();
    const link = new Link(far);
    links.set(client, link);
    link.receiveBytes(LANE, (payload) => host().receive(client, payload));
    return { ...openRemoteStore(new Link(near), LANE), client };
  };
  const send = (client: number, payload: Uint8Array) => links.get(client)?.forward(LANE, payload);
  return { open, send };
}

conforms("a store in another process", async () => {
  const store = new SqliteStore(newFile(), Date.now);
  const { open, send } = clientsOf(() => host);
  const host = new StoreHost(store, send);
  onTestFinished(() => store.close());
  return async () => open().store;
});

describe("the thread of the store", () => {
  async function openThread() {
    const lost: RemoteStore[] = [];
    const clients = clientsOf(() => thread);
    const onLost = () => {
      for (const remote of lost) remote.lost();
    };
    const thread = await HostThread.open({ file: newFile(), send: clients.send, onLost });
    onTestFinished(() => thread.close());
    const open = () => {
      const remote = clients.open();
      lost.push(remote);
      return remote;
    };
    return { thread, open };
  }

  it("tells all clients of changes", async () => {
    const { open } = await openThread();
    const [a, b] = [open().store, open().store];
    const changed = new Promise<Change>((found) => b.onChange(found));
    // The host knows b since its first call.
    await b.head("auto");
    await a.append([configured(), vote(1)]);
    expect(await changed).toMatchObject({ router: "auto", what: "log" });
  });

  it("is opened again after a crash; calls are refused, never lost, and nothing acknowledged is missing", async () => {
    const { thread, open } = await openThread();
    const { store } = open();
    const acknowledged: number[] = [];
    let isRunning = true;
    const voting = (async () => {
      for (let n = 1; isRunning; n++) {
        const receipt = await store.append([vote(n)]).catch((error: unknown) => {
          expect(error).toBeInstanceOf(StoreUnavailable);
        });
        if (receipt) acknowledged.push(n);
      }
    })();
    await expect.poll(() => acknowledged.length).toBeGreaterThan(5);
    await thread.crash();
    await expect.poll(() => store.head("auto").catch(() => 0)).toBeGreaterThan(0);
    const before = acknowledged.length;
    await expect.poll(() => acknowledged.length).toBeGreaterThan(before);
    isRunning = false;
    await voting;
    const events = await store.logEvents("auto", 0, 100_000);
    const logged = events.flatMap((event) => (event.kind === "voted" ? [event.decision] : []));
    expect(new Set(logged).size).toBe(logged.length);
    expect(logged).toEqual(expect.arrayContaining(acknowledged.map((n) => `d${n}`)));
  });

  it("frees the leases of a client that has ended", async () => {
    const { thread, open } = await openThread();
    const [a, b] = [open(), open()];
    const token = (await a.store.acquireLease("auto", "a", 3_600_000))!;
    expect(await b.store.acquireLease("auto", "b", 3_600_000)).toBeUndefined();
    thread.remove(a.client);
    await expect.poll(() => b.store.acquireLease("auto", "b", 3_600_000)).toBe(token + 1);
  });
});
