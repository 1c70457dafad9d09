import { InputError } from "../../core/input/input-error.ts";
import { isLoopback } from "../access/origin.ts";
import type { Config } from "../config/config.ts";
import type { Provider } from "../providers/providers.ts";

type Listening = Pick<Config["server"], "host" | "port">;

/**
 * Throws if a provider has the address of this gateway, which would then call itself. llama.cpp and the gateway have
 * the same default port.
 */
export function refuseOwnAddress(
  { url, dialects }: Pick<Provider, "url" | "dialects">,
  server: Listening,
  place: { readonly file: string; readonly field: string },
): void {
  const addresses = [url, ...Object.values(dialects)].filter((one) => one !== undefined);
  const own = addresses.find((address) => isOwn(address, server));
  if (own === undefined) return;
  throw new InputError(
    place,
    `calls ${own}, which is the address of this gateway`,
    `correct the provider's address, or serve on another port, for example: npx joust serve --port ${server.port + 1}`,
  );
}

function isOwn(address: string, { host, port }: Listening): boolean {
  const url = URL.parse(address);
  if (!url || port === 0 || Number(url.port || DEFAULT_PORTS[url.protocol]) !== port) return false;
  const name = bare(url.hostname);
  if (name === bare(host)) return true;
  return isLoopback(name) && (isLoopback(host) || EVERY_ADDRESS.has(bare(host)));
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Hosts with which a server listens on all addresses of the machine. */
const EVERY_ADDRESS = new Set(["0.0.0.0", "::"]);
