import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
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
    if (code !== "EADDRINUSE" && code !== "EACCES" && code !== "EADDRNOTAVAIL") throw error;
    throw new InputError(
      { file: "joust.yaml", field: "server.port" },
      `the server cannot listen on ${host}:${port} (${code})`,
      "choose another port, for example --port 8081",
    );
  }
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `http://${family === "IPv6" ? `[${host}]` : host}:${port}`;
}

/** Accepts no more requests, and closes when the running ones have ended or the time is over. */
export async function drain(server: Server, milliseconds: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), milliseconds);
  // A connection is kept alive after its last request, so idle ones are closed again and again.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  await once(server.close(), "close");
  clearTimeout(deadline);
  clearInterval(idle);
}
