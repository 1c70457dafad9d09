import { isDeepStrictEqual } from "node:util";
import type { Config } from "./config.ts";

type Settings = Pick<Config, "server" | "store">;

/** Settings of `server` that are read when the gateway starts: a reload does not change them, nor `store.url`. */
const FIXED = [
  "host",
  "port",
  "body_mb",
  "buffer_mb",
  "request_seconds",
  "idle_seconds",
  "write_seconds",
  "connections",
  "connections_per_address",
  "trusted_proxies",
  "log",
] as const satisfies readonly (keyof Config["server"])[];

/** Names of the settings that differ between two configurations and cannot be changed by a reload. */
export function changedFixedSettings(before: Settings, after: Settings): string[] {
  const server = FIXED.filter((name) => {
    return !isDeepStrictEqual(before.server[name], after.server[name]);
  });
  const store = before.store.url === after.store.url ? [] : ["store.url"];
  return [...server.map((name) => `server.${name}`), ...store];
}

/** A later configuration with the fixed settings of the one with which the gateway was started. */
export function withFixedSettings(first: Settings, later: Config): Config {
  const fixed = Object.fromEntries(FIXED.map((name) => [name, first.server[name]]));
  return {
    ...later,
    server: { ...later.server, ...fixed },
    store: { ...later.store, url: first.store.url },
  };
}
