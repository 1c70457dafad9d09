import { once } from "node:events";
import { existsSync, watch } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { formatError, formatErrorLine, JoustError } from "../../core/errors/joust-error.ts";
import { isLoopback } from "../../gateway/access/origin.ts";
import type { Config } from "../../gateway/config/config.ts";
import { ConfigError } from "../../gateway/config/read-config.ts";
import {
  gatewayFaults,
  openGateway,
  probeGateway,
  type RunningGateway,
} from "../../gateway/gateway.ts";
import { ownOptions } from "../../gateway/own-options.ts";
import { missingKeys } from "../../gateway/providers/model-specs.ts";
import type { Serving } from "../../gateway/routing/serving.ts";
import { exportTraces } from "../../gateway/telemetry/export-traces.ts";
import { newLogger } from "../../gateway/telemetry/logger.ts";
import { interruptible } from "../shared/interrupt.ts";
import {
  type ConfigurationFlags,
  configurationFile,
  readConfiguration,
  withPlace,
} from "./configuration.ts";

export interface ServeFlags extends ConfigurationFlags {
  readonly check?: boolean;
  readonly probe?: boolean;
}

/** Serves until Ctrl-C or SIGTERM, or only checks the configuration. Returns the exit code. */
export async function serve(flags: ServeFlags): Promise<number> {
  const file = configurationFile(flags);
  try {
    return await (flags.check || flags.probe ? check(file, flags) : run(file, flags));
  } catch (error) {
    throw await withPlace(error, file, flags);
  }
}

/** Reports all errors of the configuration and, with --probe, of the deployments. Returns the exit code. */
async function check(file: string | undefined, flags: ServeFlags): Promise<number> {
  const { config, placement, errors } = await findFaults(file, flags);
  for (const error of errors) {
    process.stderr.write(`joust: ${formatError(await withPlace(error, file, flags))}\n`);
  }
  if (errors.length > 1) process.stderr.write(`joust: ${errors.length} errors\n`);
  if (errors.length > 0 || !config || !placement) return 2;
  const names = placement.models.map(({ spec }) => spec.name).join(", ");
  const routers = Object.keys(config.routers).join(", ");
  process.stdout.write(
    `${file ?? "default configuration"}: valid\n  models: ${names}\n  routers: ${routers}\n${keyNote(config)}`,
  );
  return flags.probe ? probe(config, file, flags) : 0;
}

async function findFaults(file: string | undefined, flags: ServeFlags) {
  let config: Config;
  try {
    config = await readConfiguration(file, flags);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { errors: [error, ...error.others] };
  }
  const missing = missingKeys(config, process.env);
  const { placement, errors } = await gatewayFaults(ownOptions(config, file, flags.data));
  const all = new Map<string, JoustError>();
  for (const error of [...missing, ...errors]) {
    if (!(error instanceof JoustError)) throw error;
    all.set(error.message, error);
  }
  return { config, placement, errors: [...all.values()] };
}

/** Calls each deployment and prints how it went. Returns 1 if one of them failed. */
async function probe(config: Config, file: string | undefined, flags: ServeFlags): Promise<number> {
  const results = await probeGateway(ownOptions(config, file, flags.data));
  for (const { model, deployment, ms, error } of results) {
    const line = `${model} at ${deployment}`;
    process.stdout.write(
      error === undefined ? `  ok      ${line}, ${ms} ms\n` : `  failed  ${line}: ${error}\n`,
    );
  }
  return results.some(({ error }) => error !== undefined) ? 1 : 0;
}

/** A note if the gateway needs an API key to start. Keys may also be in the store, which a check does not open. */
function keyNote({ server: { host }, keys }: Config): string {
  if (isLoopback(host) || Object.keys(keys).length > 0) return "";
  return `  note: other machines can reach ${host}, so the gateway starts only if there is an API key: joust keys add NAME\n`;
}

async function run(file: string | undefined, flags: ServeFlags): Promise<number> {
  const read = () => readConfiguration(file, flags);
  const config = await read();
  const logger = newLogger(config.server.log ?? (process.stdout.isTTY ? "warn" : "info"));
  const stop = interruptible();
  const endTraces = await exportTraces(process.env);
  const options = ownOptions(config, file, flags.data);
  if (!existsSync(join(options.web, "index.html"))) process.stderr.write(NO_PAGE);
  const running = await openGateway({ ...options, logger });
  process.stdout.write(welcome(running, file, flags.data));
  const unwatch =
    file === undefined
      ? () => {}
      : watchFile(file, () => reload(running, file, flags, config, read, logger));
  if (!stop.signal.aborted) await once(stop.signal, "abort");
  unwatch();
  if (stop.code === SIGTERM) await running.leave();
  process.stderr.write(
    "joust: finishing the running requests; press Ctrl-C again to stop at once\n",
  );
  await running.close();
  await endTraces?.();
  stop.release();
  return stop.code === SIGTERM ? 0 : stop.code;
}

/** A checkout without development dependencies has no page; a published package always has one. */
const NO_PAGE =
  'joust: the page is not built, so the gateway serves its API only; run "npm ci" to build it\n';

/** The exit code of a process that SIGTERM has ended. */
const SIGTERM = 143;

/** Serves the changed file, or keeps the previous configuration if the file is invalid. `first` is the configuration at the start. */
async function reload(
  running: RunningGateway,
  file: string,
  flags: ServeFlags,
  first: Config,
  read: () => Promise<Config>,
  logger: ReturnType<typeof newLogger>,
): Promise<void> {
  try {
    const next = await read();
    await running.reload(next);
    logger.warn("the configuration was reloaded");
    const fixed = ({ server: { host, port }, store: { url } }: Config) => [host, port, url].join();
    if (fixed(next) !== fixed(first)) {
      logger.warn("server.host, server.port and store.url did not change: they require a restart");
    }
  } catch (thrown) {
    const error = await withPlace(thrown, file, flags);
    logger.error(
      { problem: formatErrorLine(error) },
      "the configuration is invalid; the previous one stays in use",
    );
    process.stderr.write(
      `joust: ${formatError(error)}\njoust: the previous configuration stays in use\n`,
    );
  }
}

/** The text that `joust serve` prints at its start: what is served, and how to try it. */
function welcome(running: RunningGateway, file: string | undefined, data: string): string {
  const { url } = running;
  const serving = running.serving();
  const routers = [...serving.routers.keys()];
  const key = running.isOpen() ? "" : " -H 'authorization: Bearer YOUR_KEY'";
  const headers = `-H 'content-type: application/json'${key}`;
  const messages = '"messages": [{"role": "user", "content": "Why is the sky blue?"}]';
  return `Joust serves ${url}
  models   ${modelsLine(serving, file)}
  routers  ${routers.join(", ")} (send one as "model"; votes are stored in ${data})

Send a request:
  curl ${url}/v1/chat/completions ${headers} \\
    -d '{"model": "${routers[0]}", ${messages}}'
Ask for a duel, then vote for its first answer:
  curl ${url}/v1/chat/completions ${headers} \\
    -d '{"model": "${routers[0]}", "joust": {"duel": true}, ${messages}}'
  curl ${url}/v1/feedback ${headers} -d '{"id": "ID OF THE ANSWER", "winner": 0}'
`;
}

function modelsLine({ from, models }: Serving, file: string | undefined): string {
  const names = [...models.keys()];
  const list = `${names.slice(0, 10).join(", ")}${names.length > 10 ? ", ..." : ""}`;
  switch (from) {
    case "file":
      return `${names.length} from ${file}: ${list}`;
    case "environment":
      return `${names.length} from API keys in the environment: ${list}`;
    case "sandbox":
      return `a sandbox of ${names.length} simulated models: ${list}\n           (set OPENAI_API_KEY or another API key, or write a joust.yaml, to serve real models)`;
  }
}

/**
 * Calls back shortly after a file has changed or SIGHUP has arrived, one call at a time. It watches the
 * folder, because editors and orchestrators replace the file. Returns a function that ends the watching.
 */
function watchFile(file: string, onChange: () => Promise<void>): () => void {
  const path = resolve(file);
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const changed = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(onChange);
    }, SETTLE_MS);
  };
  const watcher = watch(dirname(path), (_, name) => {
    // Kubernetes changes a mounted secret or config map through a link "..data" in the same folder.
    if (name === null || name === basename(path) || name.startsWith("..")) changed();
  });
  watcher.on("error", () => watcher.close());
  process.on("SIGHUP", changed);
  return () => {
    clearTimeout(timer);
    watcher.close();
    process.off("SIGHUP", changed);
  };
}

const SETTLE_MS = 100;
