import { createRequire } from "node:module";
import type { EnvHttpProxyAgent, Pool } from "undici";
import type { Environment } from "../../config/config.ts";

/** Proxies between the gateway and its providers. */
export interface Proxies {
  readonly http?: string | undefined;
  readonly https?: string | undefined;
  /** Hosts that are called directly. */
  readonly no?: string | undefined;
}

/** The proxies that the environment names, or undefined if it names none. */
export function proxiesIn(env: Environment): Proxies | undefined {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  const http = read("HTTP_PROXY");
  const https = read("HTTPS_PROXY");
  return http === undefined && https === undefined
    ? undefined
    : { http, https, no: read("NO_PROXY") };
}

/** A dispatcher that calls hosts through proxies. Its module is loaded only if it is used. */
export function proxyAgent(
  { http, https, no = "" }: Proxies,
  options: Pool.Options,
): EnvHttpProxyAgent {
  const require = createRequire(import.meta.url);
  const Agent: typeof EnvHttpProxyAgent = require("undici/lib/dispatcher/env-http-proxy-agent.js");
  return new Agent({
    ...options,
    httpProxy: http ?? "",
    httpsProxy: https ?? "",
    noProxy: no,
  } as EnvHttpProxyAgent.Options);
}
