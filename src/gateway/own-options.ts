import { dirname, join, resolve } from "node:path";
import { encoderPlaces } from "../core/encoder/encoder-places.ts";
import { PACKAGE_ROOT, readVersion } from "../core/input/project.ts";
import { systemClock } from "./clock/clock.ts";
import type { Config } from "./config/config.ts";
import type { GatewayOptions } from "./gateway.ts";

/** Options of a gateway that serves the page and the data of this package. */
export function ownOptions(
  config: Config,
  file: string | undefined,
  data: string,
): Omit<GatewayOptions, "logger"> {
  return {
    config,
    managed: file === undefined ? { by: "store" } : { by: "file", file: resolve(file) },
    env: process.env,
    dataDir: resolve(data),
    projectData: join(PACKAGE_ROOT, "data"),
    web: join(PACKAGE_ROOT, "web", "dist"),
    encoders: encoderPlaces(),
    folder: file === undefined ? process.cwd() : dirname(resolve(file)),
    clock: systemClock,
    version: readVersion(),
  };
}
