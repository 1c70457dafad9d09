import { fork } from "node:child_process";
import { once } from "node:events";
import type { Fault } from "../../src/gateway/providers/upstream/misbehaving.fixture.ts";

/** An upstream that fails in the way that its address names. */
export interface FaultyUpstream {
  url(fault: Fault): string;
  close(): Promise<void>;
}

/** Starts an upstream in its own process and calls back with it. It is ended afterwards. */
export async function withFaultyUpstream<T>(
  work: (upstream: FaultyUpstream) => Promise<T>,
): Promise<T> {
  const child = fork(new URL("./faulty-upstream-process.ts", import.meta.url));
  const exit = once(child, "exit");
  const close = async () => {
    child.kill("SIGKILL");
    await exit;
  };
  try {
    const [url] = (await once(child, "message")) as [string];
    return await work({ url: (fault) => url.replace("/well/", `/${fault}/`), close });
  } finally {
    await close();
  }
}
