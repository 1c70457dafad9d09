import { join } from "node:path";
import { type Duplex, duplexPair } from "node:stream";
import { onTestFinished } from "vitest";
import { Link } from "../../core/processes/link.ts";
import { openRemoteStore } from "../../store/remote/remote-store.ts";
import { StoreHost } from "../../store/remote/store-host.ts";
import { SqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { newFolder, startGateway, type TestGateway } from "../gateway.fixture.ts";
import { LANES, LinkedPeers } from "../peers/linked-peers.ts";
import { Hub, type Member } from "./hub.ts";

export interface TwoGateways {
  readonly a: TestGateway;
  readonly b: TestGateway;
  /** Ends a process for the others, as a crash does. */
  end(member: "a" | "b"): Promise<void>;
  /** The store that both use. */
  readonly store: SqliteStore;
}

/**
 * Two gateways that are linked like two processes of one machine, inside the process of the test.
 * Each has its own port, so that a test chooses the process that gets a request.
 */
export async function startTwoGateways(yaml: string): Promise<TwoGateways> {
  const folder = newFolder();
  const store = new SqliteStore(join(folder, "joust.db"), Date.now, false);
  const hub = new Hub({
    count: 2,
    now: () => performance.now(),
    onStoreCalls: (client, payload) => host.receive(client, payload),
  });
  const host: StoreHost = new StoreHost(store, (client, payload) =>
    hub.toStoreClient(client, payload),
  );
  onTestFinished(() => store.close());
  const members: { readonly member: Member; readonly stream: Duplex }[] = [];
  const start = () => {
    const [near, far] = duplexPair();
    const member = hub.add(new Link(far));
    members.push({ member, stream: near });
    const link = new Link(near);
    const peers = new LinkedPeers(link);
    peers.join(hub.membershipOf(member));
    const { store: remote } = openRemoteStore(link, LANES.store);
    return startGateway(yaml, { folder, processes: { peers, store: remote } });
  };
  const a = await start();
  const b = await start();
  const end = async (name: "a" | "b") => {
    const { member, stream } = members[name === "a" ? 0 : 1]!;
    stream.destroy();
    hub.remove(member);
    await host.remove(member.client);
  };
  return { a, b, store, end };
}
