import { randomBytes } from "node:crypto";
import { Calls } from "../../core/processes/calls.ts";
import type { Link } from "../../core/processes/link.ts";
import { newSecret } from "../access/keys.ts";
import { RateLimit } from "../access/rate-limit.ts";
import { LANES, type Membership, type News } from "../peers/linked-peers.ts";
import { KeptMetrics, type MetricsJson } from "./kept-metrics.ts";
import { Permits } from "./permits.ts";

/** A process that is linked to the hub. */
export interface Member {
  readonly id: string;
  /** Number of the process as a client of the store. */
  readonly client: number;
  readonly link: Link;
  /** Calls of methods that the process has. */
  readonly calls: Calls;
}

interface HubOptions {
  /** Number of processes. */
  readonly count: number;
  /** Monotonic time in milliseconds. */
  readonly now: () => number;
  /** Receives the calls of the store of a process. */
  readonly onStoreCalls?: ((client: number, payload: Uint8Array) => void) | undefined;
  /** Receives the address of a connection that a process has closed. */
  readonly onClosed?: ((member: Member, address: string) => void) | undefined;
  /** Metrics of the hub's own process. */
  readonly ownMetrics?: (() => Promise<MetricsJson>) | undefined;
}

/**
 * Connects the processes of a machine: it passes on news, questions and calls of the store, and
 * holds the limits of the machine.
 */
export class Hub {
  readonly #options: HubOptions;
  readonly #members = new Map<string, Member>();
  readonly #kept = new Map<string, News>();
  readonly #rates = new Map<number, RateLimit>();
  readonly #secret = newSecret();
  readonly #metrics = new KeptMetrics();
  readonly #permits = new Permits((id, client, most) =>
    this.#callOn(id, "recall", client, most).then(Number),
  );
  #clients = 0;

  constructor(options: HubOptions) {
    this.#options = options;
  }

  get members(): readonly Member[] {
    return [...this.#members.values()];
  }

  /** Links a process. It takes part as soon as it has received its membership. */
  add(link: Link): Member {
    const client = ++this.#clients;
    const id = `${client}-${randomBytes(4).toString("hex")}`;
    const calls = new Calls({
      send: (message) => link.send(LANES.calls, message),
      handlers: {
        take: (perMinute: number, name: string) => this.#take(perMinute, name),
        acquire: (name: string, limit: number, wanted: number, returned: number) =>
          this.#permits.acquire(id, name, limit, wanted, returned),
        ask: (topic: string, question: unknown) => this.#ask(id, topic, question),
        keep: (key: string, topic: string, news: unknown) => this.#keep(id, key, [topic, news]),
        metrics: () => this.#collect(),
        closed: (address: string) => this.#options.onClosed?.(member, address),
      },
    });
    const member: Member = { id, client, link, calls };
    link.receive(LANES.calls, (message) => calls.receive(message));
    link.receiveBytes(LANES.news, (payload) => {
      for (const other of this.#others(id)) other.link.forward(LANES.news, payload);
    });
    link.receiveBytes(LANES.store, (payload) => this.#options.onStoreCalls?.(client, payload));
    link.onEnd(() => calls.end(new Error("the process has ended")));
    this.#members.set(id, member);
    return member;
  }

  membershipOf({ id }: Member): Membership {
    const { count } = this.#options;
    const isFirst = this.#first === id;
    return { id, count, secret: this.#secret, isFirst, kept: [...this.#kept.values()] };
  }

  /** Forgets a process that has ended: its permits are free, and the others learn that it is gone. */
  remove(member: Member): void {
    const wasFirst = this.#first === member.id;
    if (!this.#members.delete(member.id)) return;
    this.#permits.remove(member.id);
    this.#metrics.end(member.id);
    this.#kept.delete(`listening ${member.id}`);
    for (const other of this.#members.values()) other.calls.notify("gone", member.id);
    if (wasFirst) this.#members.values().next().value?.calls.notify("first");
  }

  /** Passes the answers of the store to a process. */
  toStoreClient(client: number, payload: Uint8Array): void {
    this.members.find((one) => one.client === client)?.link.forward(LANES.store, payload);
  }

  /** Id of the process that has run longest, which works for all. */
  get #first(): string | undefined {
    return this.#members.keys().next().value;
  }

  #others(id: string): Member[] {
    return this.members.filter((member) => member.id !== id);
  }

  async #ask(id: string, topic: string, question: unknown): Promise<unknown[]> {
    const answers = await Promise.allSettled(
      this.#others(id).map(({ calls }) => calls.call("answer", topic, question)),
    );
    // A process that is still starting has no answer.
    return answers.flatMap((answer) =>
      answer.status === "fulfilled" && answer.value !== undefined ? [answer.value] : [],
    );
  }

  #keep(id: string, key: string, news: News): void {
    this.#kept.set(key, news);
    for (const { calls } of this.#others(id)) calls.notify("news", ...news);
  }

  #take(perMinute: number, client: string): number {
    const limit = this.#rates.get(perMinute) ?? new RateLimit(perMinute);
    this.#rates.set(perMinute, limit);
    return limit.take(client, this.#options.now());
  }

  async #callOn(id: string, method: string, ...args: readonly unknown[]): Promise<unknown> {
    return this.#members.get(id)?.calls.call(method, ...args);
  }

  async #collect(): Promise<MetricsJson[]> {
    await Promise.allSettled(
      this.members.map(async ({ id, calls }) => {
        const metrics = await calls.call("answer", "metrics", undefined);
        if (metrics !== undefined) this.#metrics.set(id, metrics as MetricsJson);
      }),
    );
    const own = await this.#options.ownMetrics?.();
    return [...this.#metrics.all, ...(own ? [own] : [])];
  }
}
