import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { type Finished, start } from "./joust.fixture.ts";

/** A gateway that runs in another process. */
export interface Served {
  readonly url: string;
  post(path: string, body: object): Promise<Response>;
}

export interface StartedServer extends Served {
  readonly process: ChildProcess & { end: Promise<Finished> };
}

/** Starts a gateway, in one process unless the arguments say otherwise, and waits until it prints its address. */
export async function startServer(
  args: readonly string[],
  folder: string,
  node: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): Promise<StartedServer> {
  const all = ["serve", "--port", "0", "--processes", "1", ...args];
  const child = start(all, folder, node, variables);
  const failed = child.end.then(({ stderr }) => Promise.reject(new Error(stderr)));
  return { ...(await Promise.race([served(child), failed])), process: child };
}

/** Waits until a started gateway prints its address. */
export async function served(child: ChildProcess): Promise<Served> {
  const url = await new Promise<string>((found, fail) => {
    let output = "";
    child.stdout!.setEncoding("utf8").on("data", (piece: string) => {
      output += piece;
      const address = /^Joust serves (http:\S+)/.exec(output)?.[1];
      if (address && output.includes("/v1/feedback")) found(address);
    });
    once(child, "exit").then(() => fail(new Error("the gateway has ended")), fail);
  });
  return {
    url,
    post: (path, body) => fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) }),
  };
}

export function chat(content: string, more: object = {}): object {
  return { model: "auto", messages: [{ role: "user", content }], ...more };
}
