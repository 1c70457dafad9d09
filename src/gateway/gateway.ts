import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Configuration } from "../api/configuration.ts";
import { JoustClient } from "../client/client.ts";
import { Random } from "../core/random/random.ts";
import { backUp } from "../store/backup/back-up.ts";
import { DAY_MS } from "../store/decision-id.ts";
import type { GroupCommit } from "../store/group-commit.ts";
import type { Store } from "../store/store.ts";
import { Access } from "./access/access.ts";
import {
  Administration,
  type FileProblem,
  type ManagedBy,
} from "./administration/administration.ts";
import { Audit } from "./administration/audit.ts";
import { NodeBeacon } from "./administration/node-beacon.ts";
import { countTokens } from "./answer/count-tokens.ts";
import { answerUnrouted } from "./answer/named-model.ts";
import type { RequestParts } from "./answer/request-parts.ts";
import { answerResponse } from "./answer-response.ts";
import type { Config } from "./config/config.ts";
import { chat } from "./dialects/chat/chat.ts";
import { messages } from "./dialects/messages/messages.ts";
import { BodyReader } from "./dialects/reader/reader.ts";
import { secondHere } from "./feedback/fetch-second.ts";
import { Judge } from "./feedback/judge.ts";
import { Signals } from "./feedback/signals.ts";
import { VoteTokens } from "./feedback/vote-token.ts";
import { type BuilderPlaces, builderOptions, checkHost, checkStoreKey } from "./gateway-parts.ts";
import { collect } from "./insight/collect.ts";
import { watchPosteriors } from "./insight/events.ts";
import { Forecasts } from "./insight/forecasts.ts";
import { route } from "./insight/route.ts";
import { ShadowResults } from "./insight/shadow.ts";
import { PastTallies } from "./insight/stats.ts";
import { ClientIds } from "./log/client-ids.ts";
import { Feed } from "./log/feed.ts";
import { MachineLog } from "./log/machine-log.ts";
import { Recorder } from "./log/recorder.ts";
import { Retention } from "./log/retention.ts";
import { SecondAnswers, secondLimits } from "./log/second-answers.ts";
import { StoredResponses } from "./log/stored-responses.ts";
import { locationOf, openStore } from "./open-store.ts";
import { ALONE, type Peers } from "./peers/peers.ts";
import { checkKeys } from "./providers/model-specs.ts";
import { answerConversation } from "./request.ts";
import { Builder } from "./routing/builder.ts";
import { Guard } from "./routing/guard.ts";
import { pollMsFor, type RouterTools } from "./routing/live-router.ts";
import { PolicyKinds } from "./routing/policy-kinds.ts";
import { answering, entriesOf, hearRouting, type Serving } from "./routing/serving.ts";
import { Sessions } from "./routing/sessions.ts";
import { Warnings } from "./routing/warnings.ts";
import { directFetch, SandboxVoters } from "./sandbox/voters.ts";
import type { Intake } from "./server/connections.ts";
import { addRoutes } from "./server/routes.ts";
import { openServer } from "./server/server.ts";
import { StaticFiles } from "./server/static-files.ts";
import { Metrics } from "./telemetry/metrics.ts";

export interface GatewayOptions extends BuilderPlaces {
  readonly config: Config;
  /** The place where the configuration is changed. Default: the program that starts the gateway. */
  readonly managed?: ManagedBy;
  /** Folder of the built page. */
  readonly web: string;
  readonly logger: Logger;
  readonly version: string;
  /** The other processes of this machine, if there are any. */
  readonly processes?: ProcessParts | undefined;
}

/** Parts of a gateway that is one of several processes of a machine. */
export interface ProcessParts {
  readonly peers: Peers;
  /** The store that the processes share. Undefined for PostgreSQL, which each opens by itself. */
  readonly store?: Store | undefined;
  /** Source of the connections. Without it, the gateway listens by itself. */
  readonly intake?: Intake | undefined;
}

export interface RunningGateway {
  readonly url: string;
  /** Models and routers that are served now. */
  readonly serving: () => Serving;
  /** Whether no API key exists, so that only this machine may send requests. */
  readonly isOpen: () => boolean;
  /** The newest configuration in the store, if it cannot be served. */
  readonly invalid: () => Configuration["invalid"];
  readonly store: Store;
  readonly log: GroupCommit;
  /** Serves another configuration from now on. Throws and changes nothing if it is invalid. */
  reload(config: Config): Promise<void>;
  /** Shows on the page that the file was changed and cannot be served, until the next reload. */
  reloadFailed(problem: FileProblem): void;
  /** Reports on /readyz that this node is leaving, and keeps serving for the configured time. */
  leave(): Promise<void>;
  /** Finishes the running requests, then writes the rest of the log. */
  close(): Promise<void>;
}

export async function openGateway(options: GatewayOptions): Promise<RunningGateway> {
  checkStoreKey(options.config);
  const store = options.processes?.store ?? (await openStore(locationOf(options)));
  try {
    return await open(options, store);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Dialects whose answers the gateway does not keep. */
const DIALECTS = { chat, messages };

/** Builds the parts of the gateway, connects them and starts the server. */
async function open(options: GatewayOptions, store: Store): Promise<RunningGateway> {
  const { clock, logger, folder, env, processes, managed = { by: "program" } } = options;
  const { peers } = processes ?? { peers: ALONE };
  const location = locationOf(options);
  const audit = new Audit(store, clock);
  const { key: storeKey } = options.config.store;
  const administration = await Administration.open({
    store,
    audit,
    managed,
    base: options.config,
    vault: { key: storeKey, isShared: "url" in location, folder: options.dataDir },
    env,
    logger,
  });
  const { config } = administration;
  const entropy = Random.seeded(randomBytes(6).readUIntBE(0, 6));
  const seeds = entropy.split("decisions");
  const newSeed = () => seeds.integer(2 ** 32);
  const metrics = new Metrics();
  const feed = new Feed(peers);
  const log = new MachineLog(store, peers, logger);
  const access = await Access.open(config, store, clock, peers);
  const { host } = config.server;
  await checkHost(host, config, access);
  const recorder = new Recorder({ log, metrics, feed, clock, logger });

  const kinds = new PolicyKinds();
  const builder = new Builder({
    ...builderOptions(options),
    kinds,
    random: entropy.split("retries"),
    onRetry: (model, error) => recorder.upstreamError(model, error),
    onCall: (model, deployment, status) =>
      metrics.deploymentCalls.series(model, deployment, status).inc(),
    ...(processes && { onUsed: (...used) => peers.tell("used", used) }),
  });
  const tools: RouterTools = {
    store,
    kinds,
    clock,
    node: `${process.pid}-${randomBytes(4).toString("hex")}`,
    peers,
    pollMs: pollMsFor(Object.keys(config.routers).length),
    onError: (error, router) => logger.error({ err: error, router }, "router"),
  };
  let served = await administration.serveFirst((first) => builder.build(first, tools));
  const serving = () => served;
  hearRouting(peers, serving);
  const tokenLifetime = () => served.config.store.vote_token_days * DAY_MS;
  const voteTokens = await VoteTokens.open(store, tokenLifetime, clock.date());

  const sessions = new Sessions(store, () => clock.date(), peers);
  const cast = { log, store, metrics, feed, logger };
  const judge = new Judge(
    { ...cast, models: () => served.models, recorder, clock, newSeed, peers },
    entropy.split("judge"),
  );
  const signals = new Signals({ ...cast, clock });
  const reader = new BodyReader();
  const clientIds = new ClientIds({ store, lifetime: tokenLifetime, logger });
  const seconds = new SecondAnswers(() => clock.date(), secondLimits(peers.count));
  peers.answer("second", (id: string) => secondHere(seconds, id));
  const request: RequestParts = {
    serving: () => answering(served, administration.invalid),
    sessions,
    clock,
    newSeed,
    access,
    recorder,
    judge,
    signals,
    voteTokens,
    metrics,
    reader,
    clientIds,
    seconds,
  };
  const responses = new StoredResponses({
    store,
    config: () => served.config.store,
    clock,
    logger,
    peers,
  });
  const closing = new AbortController();
  const leaving = new AbortController();
  const direct = directFetch(closing.signal);
  const apiKey = access.addInternalKey("sandbox-voters", ["route", "vote"]);
  const voters = new SandboxVoters(
    () => new JoustClient({ baseUrl: server.url, apiKey, fetch: direct }),
    () => served.sandbox,
    entropy.split("voters"),
    peers,
  );
  const tallies = new PastTallies(store);
  const place = { folder, store: location };
  const forecasts = new Forecasts(place, clock, logger, peers);
  store.onChange(({ what }) => {
    if (what === "forgotten") tallies.forget();
  });
  const { version } = options;
  const files = await StaticFiles.read(options.web);
  const server = await openServer(
    {
      config: () => served.config.server,
      access,
      metrics,
      clock,
      logger,
      files,
      version,
      processes: peers.count,
      intake: processes?.intake,
    },
    (app) =>
      addRoutes(app, {
        ...request,
        ...cast,
        serving,
        peers,
        responses,
        access,
        administration,
        audit,
        trial: builderOptions(options),
        system: {
          version,
          node: tools.node,
          dataDir: options.dataDir,
          file: "file" in location ? location.file : undefined,
          backUp: (to) => backUp(location, to),
        },
        voters,
        tallies,
        forecasts,
        shadows: new ShadowResults(store),
        closing: closing.signal,
        leaving: leaving.signal,
        handlers: {
          converse: (dialect, admitted, client) =>
            dialect === "responses"
              ? answerResponse({ ...request, responses }, admitted, client)
              : answerConversation(request, DIALECTS[dialect], admitted, client),
          countTokens: (admitted, client) => countTokens(request, admitted, client),
          pass: (admitted, client, endpoint) => answerUnrouted(request, endpoint, admitted, client),
          route: ({ caller, body, headers }) => route(request, caller, body, headers),
        },
      }),
  ).catch(async (error: unknown) => {
    await builder.close(served);
    throw error;
  });

  peers.answer("metrics", async () => {
    await collect({ metrics, serving, store, log, clock });
    return metrics.registry.getMetricsAsJSON();
  });
  const serve = async (next: Config) => {
    checkStoreKey(next);
    // The server still listens on the host of the start, whatever `next` says.
    await checkHost(host, next, access);
    const before = served;
    served = await builder.build(next, tools, before);
    access.configure(next);
    await builder.release(before, served);
  };
  administration.follow({
    from: () => served.from,
    ownModels: () => entriesOf(served),
    check: async (next) => {
      checkKeys(next, env);
      await builder.check(next);
    },
    // The new revision is known a moment after this call.
    apply: (next) => serve(next).then(() => void setImmediate(() => beacon.send())),
  });
  const startedAt = clock.date();
  const beacon = new NodeBeacon(store, () => ({
    id: tools.node,
    version,
    url: server.url,
    startedAt,
    revision: administration.servedRevision,
  }));
  const unwatch = watchPosteriors(() => served.routers, feed);
  const guard = new Guard(serving, place, logger, undefined, peers);
  const warnings = new Warnings(serving, clock, logger, () => peers.isFirst);
  warnings.check();
  const retentionDays = () => (peers.isFirst ? served.config.store.retention_days : undefined);
  const retention = new Retention(store, retentionDays, clock, logger);
  return {
    get url() {
      return server.url;
    },
    serving,
    isOpen: () => access.isOpen,
    invalid: () => administration.invalid,
    store,
    log,
    reload: async (next) => {
      await serve(next);
      administration.reloaded(next);
    },
    reloadFailed: (problem) => administration.reloadFailed(problem),
    leave: async () => {
      leaving.abort();
      await sleep(1000 * served.config.server.shutdown_delay_seconds);
    },
    close: async () => {
      leaving.abort();
      closing.abort();
      voters.stop();
      await administration.stop();
      await beacon.stop();
      unwatch();
      retention.stop();
      warnings.stop();
      await guard.stop();
      await forecasts.stop();
      await server.close(served.config.server.drain_seconds * 1000);
      // Nobody can fetch a second answer any more.
      await seconds.close();
      await reader.close();
      await clientIds.close();
      await access.close();
      await builder.close(served);
      await log.close();
      await store.close();
    },
  };
}
