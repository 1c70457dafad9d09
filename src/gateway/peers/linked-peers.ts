import { Calls } from "../../core/processes/calls.ts";
import type { Link } from "../../core/processes/link.ts";
import type { MachineLimits, Peers } from "./peers.ts";

/** Lanes of the link between a process and the hub. */
export const LANES = {
  /** Calls between the process and the hub. */
  calls: 1,
  /** News, which the hub passes on to the other processes without reading them. */
  news: 2,
  /** Calls of the store, which the hub passes on to the store's thread. */
  store: 3,
} as const;

/** News on their way between processes. */
export type News = readonly [topic: string, news: unknown];

/** Facts about a process that the hub gives it at the start. */
export interface Membership {
  readonly id: string;
  readonly count: number;
  readonly secret: string;
  readonly isFirst: boolean;
  /** News of earlier processes that are kept for later ones. */
  readonly kept: readonly News[];
}

/** Peers of a process that is linked to a hub (gateway/processes/hub.ts). */
export class LinkedPeers implements Peers {
  readonly limits: MachineLimits;
  readonly #link: Link;
  readonly #calls: Calls;
  readonly #listeners = new Map<string, ((news: never) => void)[]>();
  readonly #answers = new Map<string, (question: never) => unknown>();
  readonly #onGone: ((id: string) => void)[] = [];
  readonly #onFirst: (() => void)[] = [];
  #membership: Membership = { id: "", count: 1, secret: "", isFirst: false, kept: [] };
  /** Kept news that no part of the gateway listens for yet. */
  #unread: News[] = [];
  #giveBack: (client: string, most: number) => number = () => 0;
  #isFirst = false;

  /** `handlers` are further methods of this process that the hub calls. */
  constructor(link: Link, handlers: object = {}) {
    this.#link = link;
    this.#calls = new Calls({
      send: (message) => link.send(LANES.calls, message),
      handlers: {
        ...handlers,
        answer: (topic: string, question: unknown) => this.#answers.get(topic)?.(question as never),
        news: (topic: string, news: unknown) => {
          if (this.#listeners.has(topic)) this.#receive([topic, news]);
          else this.#unread.push([topic, news]);
        },
        recall: (client: string, most: number) => this.#giveBack(client, most),
        gone: (id: string) => {
          for (const listener of this.#onGone) listener(id);
        },
        first: () => {
          this.#isFirst = true;
          for (const listener of this.#onFirst) listener();
        },
      },
    });
    link.receive(LANES.calls, (message) => this.#calls.receive(message));
    link.receive(LANES.news, (news) => this.#receive(news as News));
    link.onEnd(() => this.#calls.end(new Error("the process that supervises this one has ended")));
    this.limits = {
      take: (perMinute, client) => this.#calls.call("take", perMinute, client) as Promise<number>,
      acquire: (...args) => this.#calls.call("acquire", ...args) as Promise<number>,
      onRecall: (giveBack) => {
        this.#giveBack = giveBack;
      },
    };
  }

  /** Takes the membership that the hub has given. Must be called before the peers are used. */
  join(membership: Membership): void {
    this.#membership = membership;
    this.#isFirst ||= membership.isFirst;
    this.#unread = [...membership.kept, ...this.#unread];
  }

  get id(): string {
    return this.#membership.id;
  }

  get count(): number {
    return this.#membership.count;
  }

  get secret(): string {
    return this.#membership.secret;
  }

  get isFirst(): boolean {
    return this.#isFirst;
  }

  /** Tells the hub something that only the hub needs to know. */
  notify(method: string, ...args: readonly unknown[]): void {
    this.#calls.notify(method, ...args);
  }

  tell(topic: string, news: unknown): void {
    this.#link.send(LANES.news, [topic, news] satisfies News);
  }

  keep(topic: string, key: string, news: unknown): void {
    this.#calls.notify("keep", key, topic, news);
  }

  on(topic: string, listener: (news: never) => void): void {
    this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener]);
    const earlier = this.#unread.filter(([one]) => one === topic);
    this.#unread = this.#unread.filter(([one]) => one !== topic);
    for (const [, news] of earlier) listener(news as never);
  }

  ask(topic: string, question?: unknown): Promise<unknown[]> {
    return this.#calls.call("ask", topic, question) as Promise<unknown[]>;
  }

  answer(topic: string, handler: (question: never) => unknown): void {
    this.#answers.set(topic, handler);
  }

  onGone(listener: (id: string) => void): void {
    this.#onGone.push(listener);
  }

  onFirst(listener: () => void): void {
    this.#onFirst.push(listener);
  }

  metrics(): Promise<unknown[]> {
    return this.#calls.call("metrics") as Promise<unknown[]>;
  }

  #receive([topic, news]: News): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(news as never);
  }
}
