import { fork } from "node:child_process";
import { once } from "node:events";
import type { Fault } from "../../src/gateway/providers/upstream/misbehaving.fixture.ts";

/** A host that fails in the way that its address names. */
export interface Host {
  url(fault: Fault): string;
  close(): Promise<void>;
}

/** Starts a host in its own process. */
export async function startHost(): Promise<Host> {
  const child = fork(new URL("./host-process.ts", import.meta.url));
  const exit = once(child, "exit");
  const [url] = (await once(child, "message")) as [string];
  return {
    url: (fault) => url.replace("/well/", `/${fault}/`),
    close: async () => {
      child.kill("SIGKILL");
      await exit;
    },
  };
}

/** Calls back with a host, which is ended afterwards. */
export async function withHost<T>(work: (host: Host) => Promise<T>): Promise<T> {
  const host = await startHost();
  try {
    return await work(host);
  } finally {
    await host.close();
  }
}
