import type { ChildProcess } from "node:child_process";
import { type Finished, start } from "./joust.fixture.ts";

/** A gateway as a process of its own. */
export interface Served {
  readonly url: string;
  readonly process: ChildProcess & { end: Promise<Finished> };
  post(path: string, body: object): Promise<Response>;
}

/** Resolves when it says where it is. */
export async function startServer(args: readonly string[], folder: string): Promise<Served> {
  const child = start(["serve", "--port", "0", ...args], folder);
  const url = await new Promise<string>((found, fail) => {
    let said = "";
    child.stdout!.on("data", (piece: string) => {
      said += piece;
      const address = /^Joust serves (http:\S+)/.exec(said)?.[1];
      if (address && said.includes("/v1/feedback")) found(address);
    });
    child.end.then(({ stderr }) => fail(new Error(stderr)));
  });
  return {
    url,
    process: child,
    post: (path, body) => fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) }),
  };
}

export function chat(content: string, more: object = {}): object {
  return { model: "auto", messages: [{ role: "user", content }], ...more };
}
