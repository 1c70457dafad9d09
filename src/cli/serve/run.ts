import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { PACKAGE_ROOT } from "../../core/input/project.ts";
import type { FileProblem } from "../../gateway/administration/administration.ts";
import type { Config } from "../../gateway/config/config.ts";
import type { ServingSummary } from "../../gateway/processes/messages.ts";
import { newLogger } from "../../gateway/telemetry/logger.ts";
import { interruptible } from "../shared/interrupt.ts";
import { readConfiguration, type ServeFlags } from "./configuration.ts";
import { defaultProcesses, machine } from "./default-processes.ts";
import { reload, watchFile } from "./reload.ts";
import { welcome } from "./welcome.ts";

/** A gateway that serves, in one process or in several. */
interface Served {
  readonly url: string;
  readonly summary: ServingSummary;
  /** Rejects if the gateway cannot go on. */
  readonly failed?: Promise<never>;
  reload(config: Config): Promise<void>;
  reloadFailed(problem: FileProblem): void;
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** Serves until Ctrl-C or SIGTERM. Returns the exit code. */
export async function run(file: string | undefined, flags: ServeFlags): Promise<number> {
  const read = () => readConfiguration(file, flags);
  const config = await read();
  const logger = newLogger(config.server.log ?? (process.stdout.isTTY ? "warn" : "info"));
  const stop = interruptible();
  if (!existsSync(join(PACKAGE_ROOT, "web", "dist", "index.html"))) process.stderr.write(NO_PAGE);
  const count = flags.processes ?? defaultProcesses(machine());
  const served =
    count === 1
      ? await serveAlone(config, file, flags.data, logger)
      : await serveInProcesses(count, config, file, flags.data, logger);
  process.stdout.write(welcome(served.url, served.summary, file, flags.data));
  const unwatch =
    file === undefined
      ? () => {}
      : watchFile(file, () => reload(served, file, flags, config, read, logger));
  try {
    const stopped = stop.signal.aborted ? undefined : once(stop.signal, "abort");
    await Promise.race([stopped, ...(served.failed ? [served.failed] : [])]);
    unwatch();
    process.stderr.write(STOPPING);
    if (stop.code === SIGTERM) await served.leave();
  } finally {
    unwatch();
    await served.close();
  }
  stop.release();
  return stop.code === SIGTERM ? 0 : stop.code;
}

/** A gateway inside this process. */
async function serveAlone(
  config: Config,
  file: string | undefined,
  data: string,
  logger: Logger,
): Promise<Served> {
  // A supervising process does not need the code of the gateway.
  const [{ openGateway }, { ownOptions }, { exportTraces }] = await Promise.all([
    import("../../gateway/gateway.ts"),
    import("../../gateway/own-options.ts"),
    import("../../gateway/telemetry/export-traces.ts"),
  ]);
  const endTraces = await exportTraces(process.env);
  const running = await openGateway({ ...ownOptions(config, file, data), logger });
  const { from, models, routers } = running.serving();
  const names = { models: [...models.keys()], routers: [...routers.keys()] };
  return {
    ...running,
    summary: { from, ...names, isOpen: running.isOpen(), invalid: running.invalid() },
    close: async () => {
      await running.close();
      await endTraces?.();
    },
  };
}

async function serveInProcesses(
  count: number,
  config: Config,
  file: string | undefined,
  data: string,
  logger: Logger,
): Promise<Served> {
  const { Processes } = await import("../../gateway/processes/processes.ts");
  return Processes.open({ count, config, file, data, logger });
}

/** A checkout without development dependencies has no page; a published package always has one. */
const NO_PAGE =
  'joust: the page is not built, so the gateway serves its API only; run "npm ci" in the checkout, which builds it, and start joust again\n';

const STOPPING =
  "joust: stopping; any running requests are finished first; press Ctrl-C again to stop at once\n";

/** The exit code of a process that SIGTERM has ended. */
const SIGTERM = 143;
