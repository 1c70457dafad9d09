import { setTimeout as sleep } from "node:timers/promises";
import { post } from "../http.ts";
import type { Intent, Journal } from "./journal.ts";

/** A node that clients send requests to. Its address changes when it is started again. */
export interface Target {
  readonly name: string;
  readonly url: string | undefined;
}

const WINNERS = [0, 1, "tie"] as const;
/** Longest time in which a node must be reachable again after a fault, on a busy machine. */
const PATIENCE_MS = 1_800_000;

/** Clients that request duels and vote on them, as long as the run takes. */
export class Voters {
  readonly #journal: Journal;
  readonly #targets: readonly Target[];
  readonly #pauseMs: number;
  readonly #acknowledged = new Map<Target, number>();
  #isStopped = false;
  #running: Promise<unknown> = Promise.resolve();
  /** The first response that must not occur. */
  #violation: Error | undefined;
  #late = 0;

  /** `pauseMs` is the time that a client waits between two questions. */
  constructor(journal: Journal, targets: readonly Target[], pauseMs = 0) {
    this.#journal = journal;
    this.#targets = targets;
    this.#pauseMs = pauseMs;
  }

  /** Votes by token that were cast after the fault that had prevented them. */
  get late(): number {
    return this.#late;
  }

  start(clients: number, name: string): void {
    this.#isStopped = false;
    this.#running = Promise.all(
      Array.from({ length: clients }, (_, c) => this.#work(`${name} ${c}`, c)),
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    if (this.#violation) throw this.#violation;
  }

  /** Waits until each target has acknowledged `count` more votes. */
  async served(targets: readonly Target[], count: number): Promise<void> {
    const before = new Map(targets.map((target) => [target, this.#countOf(target)]));
    const isDone = () =>
      targets.every((target) => this.#countOf(target) >= before.get(target)! + count);
    const deadline = performance.now() + PATIENCE_MS;
    while (!isDone() && !this.#violation) {
      if (performance.now() > deadline) {
        throw new Error(`${targets.map(({ name }) => name)} did not accept votes for half an hour`);
      }
      await sleep(10);
    }
    if (this.#violation) throw this.#violation;
  }

  /** Casts every vote that was not acknowledged yet, by its token. All must be accepted. */
  async voteOpen(): Promise<void> {
    const left = [...this.#journal.openIntents];
    const work = async () => {
      for (let intent = left.pop(); intent; intent = left.pop()) await this.#voteLate(intent);
    };
    await Promise.all(Array.from({ length: 25 }, work));
  }

  async #voteLate(intent: Intent): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await this.#vote(this.#any(), intent))) {
      if (this.#violation) throw this.#violation;
      if (performance.now() > deadline) {
        throw new Error(`the answer ${intent.id} could not be voted on for half an hour`);
      }
      await sleep(50);
    }
    this.#late++;
  }

  #countOf(target: Target): number {
    return this.#acknowledged.get(target) ?? 0;
  }

  #any(): Target {
    return this.#targets[Math.floor(Math.random() * this.#targets.length)]!;
  }

  /** One client. It sends questions to its own node, and votes to that node or to any other. */
  async #work(name: string, c: number): Promise<void> {
    const own = this.#targets[c % this.#targets.length]!;
    for (let i = 0; !this.#isStopped && !this.#violation; i++) {
      const intent = await this.#request(own, `Question ${name} ${i}`, WINNERS[i % 3]!);
      if (!intent) await sleep(20);
      // Every fifth answer gets its vote only after the fault.
      else if (i % 5 !== 4) await this.#vote(i % 2 ? own : this.#any(), intent);
      if (this.#pauseMs > 0) await sleep(this.#pauseMs);
    }
  }

  async #request(
    { url }: Target,
    content: string,
    winner: Intent["winner"],
  ): Promise<Intent | undefined> {
    const messages = [{ role: "user", content }];
    const duel = { model: "auto", joust: { duel: true }, messages };
    const response = await post(`${url}/v1/chat/completions`, duel).catch(() => undefined);
    if (response?.status !== 200) return undefined;
    const { decision_id: id, vote_token: token } = (JSON.parse(response.text) as Answer).joust;
    if (token === undefined) return undefined;
    const intent = { id, token, winner };
    this.#journal.answered(intent);
    return intent;
  }

  /** Returns whether the vote was acknowledged. */
  async #vote(target: Target, { id, token, winner }: Intent): Promise<boolean> {
    const vote = { id, winner, vote_token: token };
    const response = await post(`${target.url}/v1/feedback`, vote).catch(() => undefined);
    if (response?.status === 200) {
      this.#journal.acknowledged(id);
      this.#acknowledged.set(target, this.#countOf(target) + 1);
      return true;
    }
    // 503 asks the client to try again. Anything else would lose the vote.
    if (response && response.status !== 503) {
      this.#violation ??= new Error(`the vote on ${id} got ${response.status}: ${response.text}`);
    }
    return false;
  }
}

interface Answer {
  readonly joust: { readonly decision_id: string; readonly vote_token?: string };
}
