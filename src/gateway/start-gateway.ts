import type { z } from "zod";
import type { CONFIG } from "./config/config.ts";
import { located, parseConfig, readConfig } from "./config/read-config.ts";
import { openGateway } from "./gateway.ts";
import { ownOptions } from "./own-options.ts";
import { PROVIDER_NAMES } from "./providers/providers.ts";
import { newLogger } from "./telemetry/logger.ts";

/** Contents of joust.yaml, as docs/configuration.md describes them. */
export type GatewayConfig = z.input<typeof CONFIG>;

export interface StartOptions {
  /** Path of a joust.yaml, or its contents. Without one, the configuration is managed in the store: at first the models that keys in the environment give access to, or else a sandbox. */
  readonly config?: string | GatewayConfig;
  /** Folder of the log and of what was learned, if no database is configured. Default: "joust-data". */
  readonly data?: string;
  /** Lowest level of the lines of JSON that are logged to stderr. Default: "warn". */
  readonly log?: "debug" | "info" | "warn" | "error" | "silent";
}

export interface StartedGateway {
  readonly url: string;
  /** Waits for the requests that are being answered, then writes the log. */
  close(): Promise<void>;
}

/** Starts the gateway and its page inside this process. The port is `server.port`, 0 for any free one. */
export async function startGateway(options: StartOptions = {}): Promise<StartedGateway> {
  const { config: given = {}, data = "joust-data", log = "warn" } = options;
  const file = typeof given === "string" ? given : undefined;
  try {
    const config =
      typeof given === "string"
        ? await readConfig(given, process.env, PROVIDER_NAMES)
        : parseConfig(JSON.stringify(given), "config", process.env, PROVIDER_NAMES);
    const logger = newLogger(config.server.log ?? log);
    const isGiven = options.config !== undefined && file === undefined;
    const { url, close } = await openGateway({
      ...ownOptions(config, file, data),
      ...(isGiven && { managed: { by: "program" } }),
      logger,
    });
    return { url, close };
  } catch (error) {
    throw file === undefined ? error : await located(error, file);
  }
}
