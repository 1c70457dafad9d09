import { isDeepStrictEqual } from "node:util";
import type { Config } from "./config.ts";

/** Settings that are read when the gateway starts: a reload does not change them. */
const FIXED = {
  server: [
    ...(["host", "port", "body_mb", "buffer_mb", "request_seconds", "idle_seconds"] as const),
    ...(["write_seconds", "connections", "connections_per_address"] as const),
    ...(["trusted_proxies", "log"] as const),
  ],
  store: ["url"],
} as const;

/** Names of the settings that differ between two configurations and cannot be changed by a reload. */
export function changedFixedSettings(
  before: Pick<Config, "server" | "store">,
  after: Pick<Config, "server" | "store">,
): string[] {
  const server = FIXED.server.filter((name) => {
    return !isDeepStrictEqual(before.server[name], after.server[name]);
  });
  const store = FIXED.store.filter((name) => before.store[name] !== after.store[name]);
  return [...server.map((name) => `server.${name}`), ...store.map((name) => `store.${name}`)];
}
