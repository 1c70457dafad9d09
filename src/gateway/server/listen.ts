import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { InputError } from "../../core/input/input-error.ts";
import type { Config } from "../config/config.ts";

/** Starts to listen and returns the URL of the server. */
export async function listen(
  server: Server,
  { host, port }: Pick<Config["server"], "host" | "port">,
): Promise<string> {
  try {
    await once(server.listen({ host, port }), "listening");
    return urlOf(server.address() as AddressInfo);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem = `the server cannot listen on ${host}:${port} (${code})`;
    if (code === "EADDRINUSE" || code === "EACCES") {
      throw new InputError(
        { file: "joust.yaml", field: "server.port" },
        problem,
        "choose another port, for example: npx joust serve --port 8081",
      );
    }
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
      throw new InputError(
        { file: "joust.yaml", field: "server.host" },
        problem,
        "give an address of this machine, for example: npx joust serve --host 127.0.0.1",
      );
    }
    throw error;
  }
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `http://${family === "IPv6" ? `[${host}]` : host}:${port}`;
}
