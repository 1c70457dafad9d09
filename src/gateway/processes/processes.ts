import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { JoustError } from "../../core/errors/joust-error.ts";
import { HostThread } from "../../store/remote/host-thread.ts";
import type { FileProblem } from "../administration/administration.ts";
import type { Config } from "../config/config.ts";
import { withFixedSettings } from "../config/fixed-settings.ts";
import { connectionLimits, descriptorLimit } from "../server/connections.ts";
import { Hub, type Member } from "./hub.ts";
import { Listener, type Receiver } from "./listener.ts";
import type { ServingSummary, StartMessage } from "./messages.ts";
import { OwnMetrics } from "./own-metrics.ts";
import { type Spawned, spawnGateway } from "./spawn.ts";

export interface ProcessesOptions {
  readonly count: number;
  readonly config: Config;
  /** Path of the configuration file, if there is one. */
  readonly file: string | undefined;
  /** Folder of the data. */
  readonly data: string;
  readonly logger: Logger;
  /** Starts a process. Tests replace it. */
  readonly spawn?: (() => Spawned) | undefined;
}

/** A process with a gateway that is ready. */
interface Running extends Receiver {
  readonly spawned: Spawned;
  readonly member: Member;
  /** Configuration that it serves. */
  config: Config;
}

/**
 * The processes of a gateway on one machine (docs/decisions/0042-processes.md). This process
 * listens, holds the SQLite store on a thread and restarts the others; they answer the requests.
 */
export class Processes {
  readonly #options: ProcessesOptions;
  readonly #hub: Hub;
  readonly #listener: Listener;
  readonly #store: HostThread | undefined;
  readonly #metrics = new OwnMetrics();
  /** Processes that have not ended, and those of them that are ready. */
  readonly #spawned = new Set<Spawned>();
  readonly #running = new Set<Running>();
  readonly #ends = new Set<Promise<void>>();
  readonly #failure = Promise.withResolvers<never>();
  #config: Config;
  /** The reason why the file, as it is now, is not served. */
  #fileProblem: FileProblem | undefined;
  #summary: ServingSummary | undefined;
  #isEnding = false;
  /** Processes that have ended soon after their start, one after the other. */
  #quickEnds = 0;

  private constructor(options: ProcessesOptions, store: HostThread | undefined, hub: Hub) {
    const { config, count } = options;
    this.#options = options;
    this.#config = config;
    this.#store = store;
    this.#hub = hub;
    const limits = connectionLimits(config.server, count * descriptorLimit());
    this.#listener = new Listener(limits, () => this.#metrics.refused());
    this.#failure.promise.catch(() => {});
  }

  /** Starts the processes and listens as soon as the first one is ready. The others follow. */
  static async open(options: ProcessesOptions): Promise<Processes> {
    const { config, count, data, logger } = options;
    let store: HostThread | undefined;
    const hub = new Hub({
      count,
      now: () => performance.now(),
      onStoreCalls: (client, payload) => store?.receive(client, payload),
      onClosed: (member, address) => opened.#closed(member, address),
      ownMetrics: () => opened.#metrics.read(opened.#running.size),
    });
    if (config.store.url === undefined) {
      store = await HostThread.open({
        file: join(resolve(data), "joust.db"),
        send: (client, payload) => hub.toStoreClient(client, payload),
        onLost: (error) => {
          logger.error({ err: error }, "the thread of the store has ended and is opened again");
          for (const { calls } of hub.members) calls.notify("storeLost");
        },
      });
    }
    const opened = new Processes(options, store, hub);
    try {
      await opened.#start();
      await opened.#listener.open(config.server);
    } catch (error) {
      await opened.close();
      throw error;
    }
    const { url } = opened.#listener;
    for (const { calls } of hub.members) calls.notify("listening", url);
    for (let i = 1; i < count; i++) opened.#keepOne();
    return opened;
  }

  get url(): string {
    return this.#listener.url;
  }

  /** The models and routers that are served. */
  get summary(): ServingSummary {
    return this.#summary!;
  }

  /** Rejects if the processes end again and again soon after their start. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  /** Serves another configuration in all processes. Throws and changes nothing if it is invalid. */
  async reload(config: Config): Promise<void> {
    const [first, ...others] = this.#running;
    if (!first) throw new Error("no process of the gateway is ready");
    await first.member.calls.call("reload", config);
    first.config = config;
    this.#config = config;
    this.#fileProblem = undefined;
    await Promise.all(others.map((running) => this.#update(running)));
  }

  /** Shows on the page that the file was changed and cannot be served, until the next reload. */
  reloadFailed(problem: FileProblem): void {
    this.#fileProblem = problem;
    for (const { member } of this.#running) member.calls.notify("reloadFailed", problem);
  }

  /** Reports on /readyz that this node is leaving, and keeps serving for the configured time. */
  async leave(): Promise<void> {
    this.#isEnding = true;
    await Promise.allSettled([...this.#running].map(({ member }) => member.calls.call("leave")));
  }

  /** Finishes the running requests in all processes, writes the rest of the log and ends them. */
  async close(): Promise<void> {
    this.#isEnding = true;
    this.#listener.close();
    const late = setTimeout(
      () => {
        for (const spawned of this.#spawned) spawned.kill();
      },
      1000 * (this.#config.server.drain_seconds + LATE_SECONDS),
    );
    for (const running of this.#running) this.#stop(running);
    await Promise.all(this.#ends);
    clearTimeout(late);
    await this.#store?.close();
  }

  /** Starts a process and, whenever it ends, another one. */
  async #keepOne(): Promise<void> {
    while (!this.#isEnding) {
      try {
        await this.#start();
        return;
      } catch (error) {
        if (this.#isEnding) return;
        this.#options.logger.error({ err: error }, "a process of the gateway could not start");
        if (!(await this.#pause("it could not start"))) return;
      }
    }
  }

  /** Starts a process. Rejects if its gateway cannot be opened. */
  async #start(): Promise<void> {
    const spawned = (this.#options.spawn ?? spawnGateway)();
    this.#spawned.add(spawned);
    const member = this.#hub.add(spawned.link);
    const config = this.#config;
    const message = this.#startMessage(member, config);
    const summary = member.calls.call("start", message) as Promise<ServingSummary>;
    const early = spawned.ended.then((reason) => {
      throw new Error(`a process of the gateway ended at its start (${reason})`);
    });
    const ended = spawned.ended.then(() => {
      this.#spawned.delete(spawned);
      this.#hub.remove(member);
      this.#store?.remove(member.client);
    });
    this.#watch(ended);
    early.catch(() => {});
    this.#summary = await Promise.race([summary, early]);
    const running = this.#receiver(spawned, member, config);
    this.#running.add(running);
    this.#listener.add(running);
    member.calls.notify("listening", this.#listener.url);
    this.#watch(this.#replace(running, performance.now()));
    // The configuration may have changed during the start.
    if (config !== this.#config) await this.#update(running);
    if (this.#fileProblem) member.calls.notify("reloadFailed", this.#fileProblem);
    if (this.#isEnding) this.#stop(running);
  }

  #startMessage(member: Member, config: Config): StartMessage {
    const { file, data, logger } = this.#options;
    return {
      membership: this.#hub.membershipOf(member),
      config: withFixedSettings(this.#options.config, config),
      file,
      data,
      level: logger.level,
      hasStore: this.#store !== undefined,
      url: this.#listener.url,
    };
  }

  #receiver(spawned: Spawned, member: Member, config: Config): Running {
    const { calls } = member;
    return {
      spawned,
      member,
      config,
      pass: (socket, address) => spawned.pass(socket, address),
      makeRoom: (address) => calls.call("makeRoom", address) as Promise<boolean>,
      setFull: (address, isFull) => calls.notify("full", address, isFull),
    };
  }

  /** Waits until a process ends and starts another one, unless all are to end. */
  async #replace(running: Running, startedAt: number): Promise<void> {
    const reason = await running.spawned.ended;
    this.#running.delete(running);
    this.#listener.remove(running);
    if (this.#isEnding) return;
    if (performance.now() - startedAt > QUICK_MS) this.#quickEnds = 0;
    this.#metrics.restarted();
    this.#options.logger.error(
      { pid: running.spawned.pid, reason },
      "a process of the gateway has ended; another one is started",
    );
    if (await this.#pause(reason)) this.#keepOne();
  }

  /**
   * Waits before the next start, longer after each process that ended soon. Returns false if no other process
   * should be started.
   */
  async #pause(reason: string): Promise<boolean> {
    this.#quickEnds++;
    if (this.#quickEnds > MOST_QUICK_ENDS) {
      this.#failure.reject(
        new JoustError(
          `the processes of the gateway ended ${MOST_QUICK_ENDS} times soon after their start; the last one: ${reason}`,
          {
            code: "processes_failed",
            hint: "the log above says why; joust serve --processes 1 serves without other processes",
          },
        ),
      );
      return false;
    }
    // After the first quick end, the process is replaced at once.
    if (this.#quickEnds > 1) await sleep(PAUSE_MS * 2 ** (this.#quickEnds - 2));
    return !this.#isEnding;
  }

  /** Gives a process the newest configuration. A process that cannot serve it is replaced. */
  async #update(running: Running): Promise<void> {
    const config = this.#config;
    try {
      await running.member.calls.call("reload", config);
      running.config = config;
    } catch (error) {
      const { logger } = this.#options;
      logger.error({ err: error }, "a process could not serve the configuration and is replaced");
      this.#stop(running);
    }
  }

  /** Lets a process finish its requests and end. */
  #stop(running: Running): void {
    this.#listener.retire(running);
    running.member.calls.call("close").catch(() => {});
  }

  #closed(member: Member, address: string): void {
    const running = [...this.#running].find((one) => one.member === member);
    if (running) this.#listener.closed(running, address);
  }

  #watch(end: Promise<void>): void {
    const watched = end.finally(() => this.#ends.delete(watched));
    this.#ends.add(watched);
  }
}

/** A process that has run for less time has ended soon after its start. */
const QUICK_MS = 5000;
/** Number of such processes in a row after which no other one is started. */
const MOST_QUICK_ENDS = 5;
const PAUSE_MS = 250;
/** Time after `drain_seconds` in which a process must end by itself. */
const LATE_SECONDS = 10;
