/** A process with a gateway, as one of several on a machine. Started by spawn.ts. */
import { Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { Link } from "../../core/processes/link.ts";
import { openRemoteStore, type RemoteStore } from "../../store/remote/remote-store.ts";
import type { FileProblem } from "../administration/administration.ts";
import type { Config } from "../config/config.ts";
import { secretsOf } from "../config/read-config.ts";
import { openGateway, type RunningGateway } from "../gateway.ts";
import { ownOptions } from "../own-options.ts";
import { LANES, LinkedPeers } from "../peers/linked-peers.ts";
import { exportTraces } from "../telemetry/export-traces.ts";
import { newLogger } from "../telemetry/logger.ts";
import { rememberSecrets } from "../wire/secrets.ts";
import {
  LINK_DESCRIPTOR,
  type Passed,
  type ServingSummary,
  type StartMessage,
} from "./messages.ts";
import { PassedConnections } from "./passed-connections.ts";

// Node can wait for its compiler thread for ever when it exits (nodejs/node#54918).
setFlagsFromString("--no-concurrent-sparkplug");
// A signal to all processes of a terminal or a service is handled by the supervising process.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

const link = new Link(new Socket({ fd: LINK_DESCRIPTOR, readable: true, writable: true }));
// Without the supervising process there is no store and no port.
link.onEnd(() => process.exit(process.exitCode ?? 1));

let store: RemoteStore | undefined;
let running: RunningGateway | undefined;
let endTraces: Awaited<ReturnType<typeof exportTraces>>;

const intake = new PassedConnections((address) => peers.notify("closed", address));
const peers: LinkedPeers = new LinkedPeers(link, {
  start,
  reload: (config: Config) => {
    rememberSecrets(secretsOf(config));
    return running!.reload(config);
  },
  reloadFailed: (problem: FileProblem) => running!.reloadFailed(problem),
  leave: () => running!.leave(),
  close,
  storeLost: () => store?.lost(),
  listening: (url: string) => intake.setUrl(url),
  full: (address: string, isFull: boolean) => intake.setFull(address, isFull),
  makeRoom: (address?: string) => intake.makeRoom(address),
});
process.on("message", (message, socket) => {
  const { address } = message as Passed;
  // The client may have gone away in between.
  if (socket instanceof Socket) intake.take(socket, address);
  else peers.notify("closed", address);
});

async function start(message: StartMessage): Promise<ServingSummary> {
  const { membership, config, file, data, level, hasStore, url } = message;
  peers.join(membership);
  intake.setUrl(url);
  store = hasStore ? openRemoteStore(link, LANES.store) : undefined;
  rememberSecrets(secretsOf(config));
  endTraces = await exportTraces(process.env);
  const logger = newLogger(level);
  const options = { ...ownOptions(config, file, data), logger };
  try {
    const processes = { peers, store: store?.store, intake };
    running = await openGateway({ ...options, processes });
  } catch (error) {
    end(2);
    throw error;
  }
  const { from, models, routers } = running.serving();
  return {
    from,
    models: [...models.keys()],
    routers: [...routers.keys()],
    isOpen: running.isOpen(),
    invalid: running.invalid(),
  };
}

async function close(): Promise<void> {
  await running?.close();
  await endTraces?.();
  end(0);
}

/** Ends the process after the message that is being answered. */
function end(code: number): void {
  process.exitCode = code;
  setImmediate(() => setImmediate(() => link.close()));
}
