import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Logger } from "pino";
import type { EncoderPlaces } from "../core/encoder/open-encoder.ts";
import { checkedAt, InputError } from "../core/input/input-error.ts";
import { Random } from "../core/random/random.ts";
import { GroupCommit } from "../store/group-commit.ts";
import { readKey } from "../store/seal.ts";
import { openSqlite } from "../store/sqlite/open.ts";
import type { Store } from "../store/store.ts";
import { Access } from "./access/access.ts";
import { isLoopback } from "./access/origin.ts";
import { VoteTokens } from "./access/vote-token.ts";
import type { Clock } from "./clock/clock.ts";
import type { Config } from "./config/config.ts";
import { Judge } from "./feedback/judge.ts";
import type { Gateway } from "./gateway.ts";
import { watchPosteriors } from "./insight/events.ts";
import { PastTallies } from "./insight/past-tallies.ts";
import { Feed } from "./log/feed.ts";
import { Recorder } from "./log/recorder.ts";
import { Retention } from "./log/retention.ts";
import type { Placement } from "./providers/model-specs.ts";
import { answerChat, answerUnrouted, type RequestParts } from "./request.ts";
import { Builder } from "./routing/builder.ts";
import { Guard } from "./routing/guard.ts";
import type { GuardTask } from "./routing/guard.worker.ts";
import type { RouterTools } from "./routing/live-router.ts";
import { PolicyKinds } from "./routing/policy-kinds.ts";
import { Sessions } from "./routing/sessions.ts";
import { Warnings } from "./routing/warnings.ts";
import { SandboxVoters } from "./sandbox/voters.ts";
import { ADMIN_ENDPOINTS } from "./server/admin-endpoints.ts";
import { type Endpoint, TextAnswer } from "./server/endpoint.ts";
import { CLIENT_ENDPOINTS } from "./server/endpoints.ts";
import { INSIGHT_ENDPOINTS } from "./server/insight-endpoints.ts";
import { openApi } from "./server/openapi.ts";
import { publicInterface } from "./server/public-interface.ts";
import { createServer } from "./server/server.ts";
import { StaticFiles } from "./server/static-files.ts";
import { Metrics } from "./telemetry/metrics.ts";

export interface GatewayOptions {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the SQLite file goes, if no database is configured. */
  readonly dataDir: string;
  /** The project's own data, and the built page. */
  readonly projectData: string;
  readonly web: string;
  readonly encoders: EncoderPlaces;
  /** Where paths in the configuration start. */
  readonly folder: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
}

/** A gateway that answers. */
export interface RunningGateway {
  readonly gateway: Gateway;
  readonly url: string;
  /** Serves another configuration from now on; throws and changes nothing where it cannot be. */
  reload(config: Config): Promise<void>;
  /** Lets what is under way finish, then writes all that waits. */
  close(): Promise<void>;
}

export async function openGateway(options: GatewayOptions): Promise<RunningGateway> {
  checkStoreKey(options.config);
  const store = await openStore(options);
  try {
    return await serve(options, store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Throws what is wrong with a configuration; opens encoders, bundles and tables, but serves nothing. */
export async function checkGateway(options: Omit<GatewayOptions, "logger">): Promise<Placement> {
  checkStoreKey(options.config);
  const builder = new Builder({
    ...builderOptions(options),
    kinds: new PolicyKinds(),
    random: Random.seeded(1),
    onRetry: () => {},
  });
  try {
    return await builder.check(options.config);
  } finally {
    await builder.close();
  }
}

function builderOptions({
  env,
  projectData: data,
  encoders,
  folder,
  clock,
}: Omit<GatewayOptions, "logger">) {
  return { env, data, encoders, folder, clock };
}

async function openStore(options: GatewayOptions): Promise<Store> {
  const place = placeOf(options);
  if ("file" in place) return openSqlite(place.file);
  // Loaded only where it is used.
  const { openPostgres } = await import("../store/postgres/open.ts");
  return openPostgres(place.url);
}

function placeOf({ config, dataDir }: GatewayOptions): GuardTask["store"] {
  const { url } = config.store;
  return url === undefined ? { file: join(dataDir, "joust.db") } : { url };
}

async function serve(options: GatewayOptions, store: Store): Promise<RunningGateway> {
  const { config, clock, logger, folder } = options;
  const entropy = Random.seeded(randomBytes(6).readUIntBE(0, 6));
  const seeds = entropy.split("decisions");
  const metrics = new Metrics();
  const feed = new Feed();
  const log = new GroupCommit(store);
  const access = await Access.open(config, store, clock);
  checkHost(config, access);
  const recorder = new Recorder({ log, spending: access.spending, metrics, feed, clock });
  const kinds = new PolicyKinds();
  const builder = new Builder({
    ...builderOptions(options),
    kinds,
    random: entropy.split("retries"),
    onRetry: (model, error) => recorder.upstreamError(model, error),
  });
  const tools: RouterTools = {
    store,
    kinds,
    clock,
    node: `${process.pid}-${randomBytes(4).toString("hex")}`,
    onError: (error, router) => logger.error({ err: error, router }, "router"),
  };
  let serving = await builder.build(config, tools);
  const closing = new AbortController();
  const voters = new SandboxVoters(
    publicInterface(
      () => url,
      access.addInnerKey("sandbox-voters", ["route", "vote"]),
      closing.signal,
    ),
    () => serving.sandbox?.questions ?? [],
    entropy.split("voters"),
  );
  const parts = {
    serving: () => serving,
    store,
    log,
    access,
    recorder,
    voters,
    metrics,
    feed,
    tallies: new PastTallies(store),
    clock,
    logger,
    sessions: new Sessions(store),
    voteTokens: new VoteTokens(Buffer.from(await store.secret("vote-tokens"))),
    closing: closing.signal,
    newSeed: () => seeds.integer(2 ** 32),
  };
  const judge = new Judge({ ...parts, models: () => serving.models }, entropy.split("judge"));
  const requestParts: RequestParts = { ...parts, judge };
  const gateway: Gateway = {
    ...requestParts,
    ...parts,
    answerChat: (request, client) => answerChat(requestParts, request, client),
    answerUnrouted: (endpoint, request, client) =>
      answerUnrouted(requestParts, endpoint, request, client),
  };
  const server = createServer(
    gateway,
    endpointsOf(options.version),
    await StaticFiles.read(options.web),
  );
  const url = await listen(server, config).catch(async (error: unknown) => {
    await builder.close(serving);
    throw error;
  });
  const unwatch = watchPosteriors(() => serving.routers, feed);
  const guard = new Guard(() => serving, { folder, store: placeOf(options) }, logger);
  const warnings = new Warnings(() => serving, clock, logger);
  const retention = new Retention(store, () => serving.config.store.retention_days, clock, logger);
  return {
    gateway,
    url,
    reload: async (next) => {
      checkStoreKey(next);
      const before = serving;
      serving = await builder.build(next, tools, before);
      access.configure(next);
      await builder.release(before, serving);
    },
    close: async () => {
      closing.abort();
      voters.stop();
      unwatch();
      retention.stop();
      warnings.stop();
      await guard.stop();
      await drain(server, serving.config.server.drain_seconds * 1000);
      await builder.close(serving);
      await log.close();
      await store.close();
    },
  };
}

function endpointsOf(version: string): Endpoint[] {
  const endpoints: Endpoint[] = [...CLIENT_ENDPOINTS, ...INSIGHT_ENDPOINTS, ...ADMIN_ENDPOINTS];
  const description: Endpoint = {
    method: "GET",
    path: "/openapi.json",
    summary: "This description.",
    answer: "OpenAPI 3.1.",
    handle: () => new TextAnswer("application/json; charset=utf-8", text),
  };
  endpoints.push(description);
  const text = JSON.stringify(openApi(endpoints, version));
  return endpoints;
}

function checkStoreKey({ store: { key } }: Config): void {
  if (key === undefined) return;
  checkedAt({ file: "joust.yaml", field: "store.key" }, () => readKey(key));
}

/** Whoever can reach it may spend the operator's money. */
function checkHost({ server: { host } }: Config, access: Access): void {
  if (!access.isOpen || isLoopback(host)) return;
  throw new InputError(
    { file: "joust.yaml", field: "server.host" },
    `is ${host}, which other machines can reach, and there is no API key`,
    "make one first: joust keys add NAME",
  );
}

async function listen(server: Server, { server: { host, port } }: Config): Promise<string> {
  try {
    await once(server.listen({ host, port }), "listening");
    return urlOf(server.address() as AddressInfo);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EADDRINUSE" && code !== "EACCES" && code !== "EADDRNOTAVAIL") throw error;
    throw new InputError(
      { file: "joust.yaml", field: "server.port" },
      `${host}:${port} cannot be listened to (${code})`,
      "choose another: --port 8081",
    );
  }
}

function urlOf({ address, family, port }: AddressInfo): string {
  const here = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `http://${family === "IPv6" ? `[${here}]` : here}:${port}`;
}

/** No new requests; those under way may finish within their time. */
async function drain(server: Server, milliseconds: number): Promise<void> {
  const late = setTimeout(() => server.closeAllConnections(), milliseconds);
  // A connection whose last request has just ended is kept open for another one, which will not come.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  await once(server.close(), "close");
  clearTimeout(late);
  clearInterval(idle);
}
