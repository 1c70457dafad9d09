import { existsSync } from "node:fs";
import { formatError, formatErrorLine } from "../../core/errors/joust-error.ts";
import { InputError } from "../../core/input/input-error.ts";
import { isLoopback } from "../../gateway/access/origin.ts";
import { CONFIG, type Config } from "../../gateway/config/config.ts";
import { located, readConfig } from "../../gateway/config/read-config.ts";
import { checkGateway, openGateway, type RunningGateway } from "../../gateway/gateway.ts";
import { checkKeys, type Placement } from "../../gateway/providers/model-specs.ts";
import { PROVIDER_NAMES, SANDBOX } from "../../gateway/providers/providers.ts";
import type { Serving } from "../../gateway/routing/serving.ts";
import { ownOptions } from "../../gateway/start-gateway.ts";
import { newLogger } from "../../gateway/telemetry/logger.ts";
import type { ServeFlags } from "../commands/serve.ts";
import { interruptible } from "../shared/interrupt.ts";
import { watchFile } from "./watch-file.ts";

const DEFAULT_CONFIG = "joust.yaml";

export async function serve(flags: ServeFlags): Promise<number> {
  const file = configFile(flags.config);
  try {
    return await serveFile(file, flags);
  } catch (error) {
    throw file === undefined ? withoutFile(error) : await located(error, file);
  }
}

/** Where nobody has written a file a default or a flag is at fault. */
function withoutFile(error: unknown): unknown {
  if (!(error instanceof InputError) || error.file !== DEFAULT_CONFIG || !error.field) return error;
  return new InputError({ file: error.field }, error.problem, error.hint);
}

/** What is served, and at which prices, by the configuration that is found here. */
export async function servedHere(
  flags: ServeFlags,
): Promise<{ config: Config; placement: Placement }> {
  const file = configFile(flags.config);
  try {
    const config = withFlags(await configOf(file), flags);
    const placement = await checkGateway(ownOptions(config, file, flags.data));
    return { config, placement };
  } catch (error) {
    throw file === undefined ? error : await located(error, file);
  }
}

async function serveFile(file: string | undefined, flags: ServeFlags): Promise<number> {
  const read = async () => withFlags(await configOf(file), flags);
  const config = await read();
  const level = config.server.log ?? (process.stdout.isTTY ? "warn" : "info");
  const logger = newLogger(level);
  const options = { ...ownOptions(config, file, flags.data), logger };
  if (flags.check) {
    checkKeys(config, process.env);
    const { models } = await checkGateway(options);
    const routers = Object.keys(config.routers).join(", ");
    const names = models.map(({ spec }) => spec.name).join(", ");
    process.stdout.write(
      `${file ?? "no file"}: fine\n  models: ${names}\n  routers: ${routers}\n${reachNote(config)}`,
    );
    return 0;
  }
  const stop = interruptible();
  const running = await openGateway(options);
  process.stdout.write(welcome(running, file, flags.data));
  const unwatch =
    file === undefined
      ? () => {}
      : watchFile(file, () => reload(running, file, config, read, logger));
  await new Promise<void>((done) => {
    if (stop.signal.aborted)
      done(); // while the gateway was starting
    else stop.signal.addEventListener("abort", () => done(), { once: true });
  });
  unwatch();
  process.stderr.write("joust: finishing what is under way; again to stop at once\n");
  await running.close();
  stop.release();
  return stop.code === 143 ? 0 : stop.code;
}

/** Keys may also be in the store, which a check does not open. */
function reachNote({ server: { host }, keys }: Config): string {
  if (isLoopback(host) || Object.keys(keys).length > 0) return "";
  return `  note: other machines can reach ${host}, so it starts only once there is an API key: joust keys add NAME\n`;
}

function configFile(given: string | undefined): string | undefined {
  return given ?? (existsSync(DEFAULT_CONFIG) ? DEFAULT_CONFIG : undefined);
}

async function configOf(file: string | undefined): Promise<Config> {
  if (file === undefined) return CONFIG.parse({});
  return readConfig(file, process.env, [...PROVIDER_NAMES, SANDBOX]);
}

function withFlags(config: Config, { port, host }: ServeFlags): Config {
  const { JOUST_STORE_KEY: key } = process.env;
  const server = {
    ...config.server,
    ...(port !== undefined && { port }),
    ...(host !== undefined && { host }),
  };
  const store = { ...config.store, ...(config.store.key === undefined && key && { key }) };
  return { ...config, server, store };
}

/** A file that cannot be served leaves everything as it is. `first` is what was started with. */
async function reload(
  running: RunningGateway,
  file: string,
  first: Config,
  read: () => Promise<Config>,
  logger: ReturnType<typeof newLogger>,
): Promise<void> {
  try {
    const next = await read();
    await running.reload(next);
    logger.warn("the configuration has changed and is served now");
    const fixed = ({ server: { host, port }, store: { url } }: Config) => [host, port, url].join();
    if (fixed(next) !== fixed(first)) {
      logger.warn("server.host, server.port and store.url are as before: they take a restart");
    }
  } catch (thrown) {
    const error = await located(thrown, file);
    logger.error(
      { problem: formatErrorLine(error) },
      "the configuration was not taken up; the one before is served",
    );
    process.stderr.write(
      `joust: ${formatError(error)}\njoust: the configuration before is still served\n`,
    );
  }
}

function welcome(running: RunningGateway, file: string | undefined, data: string): string {
  const { url } = running;
  const serving = running.serving();
  const [router] = serving.routers.keys();
  const key = running.isOpen() ? "" : " -H 'authorization: Bearer YOUR_KEY'";
  const json = `-H 'content-type: application/json'${key}`;
  return `Joust serves ${url}
  models   ${poolLine(serving, file)}
  routers  ${[...serving.routers.keys()].join(", ")} (as \`model\` of a request); learnt so far: ${data}

Try it:
  curl ${url}/v1/chat/completions ${json} \\
    -d '{"model": "${router}", "messages": [{"role": "user", "content": "Why is the sky blue?"}]}'
  curl ${url}/v1/chat/completions ${json} \\
    -d '{"model": "${router}", "joust": {"duel": true}, "messages": [{"role": "user", "content": "Why is the sky blue?"}]}'
  curl ${url}/v1/feedback ${json} -d '{"id": "ID OF THE ANSWER", "winner": 0}'
`;
}

function poolLine({ from, models }: Serving, file: string | undefined): string {
  const names = [...models.keys()];
  const list = `${names.slice(0, 10).join(", ")}${names.length > 10 ? ", ..." : ""}`;
  switch (from) {
    case "file":
      return `${names.length} from ${file}: ${list}`;
    case "environment":
      return `${names.length} by the keys in the environment: ${list}`;
    case "sandbox":
      return `a sandbox of ${names.length}: ${list}\n           (no model is asked; set OPENAI_API_KEY or another key, or write a joust.yaml, for real ones)`;
  }
}
