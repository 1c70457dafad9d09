import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { type Finished, start } from "./joust.fixture.ts";

/** A gateway as a process of its own. */
export interface Served {
  readonly url: string;
  post(path: string, body: object): Promise<Response>;
}

export interface StartedServer extends Served {
  readonly process: ChildProcess & { end: Promise<Finished> };
}

/** Resolves when it says where it is. */
export async function startServer(args: readonly string[], folder: string): Promise<StartedServer> {
  const child = start(["serve", "--port", "0", ...args], folder);
  const failed = child.end.then(({ stderr }) => Promise.reject(new Error(stderr)));
  return { ...(await Promise.race([served(child), failed])), process: child };
}

/** A gateway that somebody has started, once it says where it is. */
export async function served(child: ChildProcess): Promise<Served> {
  const url = await new Promise<string>((found, fail) => {
    let said = "";
    child.stdout!.setEncoding("utf8").on("data", (piece: string) => {
      said += piece;
      const address = /^Joust serves (http:\S+)/.exec(said)?.[1];
      if (address && said.includes("/v1/feedback")) found(address);
    });
    once(child, "exit").then(() => fail(new Error("it has ended")), fail);
  });
  return {
    url,
    post: (path, body) => fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) }),
  };
}

export function chat(content: string, more: object = {}): object {
  return { model: "auto", messages: [{ role: "user", content }], ...more };
}
