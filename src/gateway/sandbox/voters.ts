import { Agent, fetch } from "undici";
import type { Value } from "../../api/common.ts";
import type { Voters, VotersSettings } from "../../api/sandbox.ts";
import type { JoustClient } from "../../client/client.ts";
import type { Random } from "../../core/random/random.ts";
import type { Peers } from "../peers/peers.ts";
import type { Profile } from "./profile.ts";
import { Progress } from "./progress.ts";
import type { Question } from "./questions.ts";

type Settings = Value<typeof VotersSettings>;

/** The part of the sandbox that simulated people know. */
interface Known {
  readonly questions: readonly Question[];
  readonly profile: Profile;
}

/**
 * Simulated people. Each draws one of the project's questions, whose answer it knows, gets two
 * answers and votes for the right one, with occasional errors. It also sends another question as an
 * ordinary request, which one model answers: these requests show what routing is worth. People use
 * the public HTTP interface. If the machine has several processes, the first one runs the people,
 * and the others ask it. If the first one ends, the next process continues with the same settings.
 */
export class SandboxVoters {
  readonly #client: () => JoustClient;
  readonly #known: () => Known | undefined;
  readonly #random: Random;
  readonly #progress = new Progress();
  readonly #peers: Peers;
  #settings = { on: false, votes_per_minute: 60, voters: 5 };
  #timer: NodeJS.Timeout | undefined;
  #running = 0;
  #cast = 0;
  #failed = 0;
  /** Number of votes at which the voters stop. */
  #stopAt: number | undefined;
  #isStopped = false;
  /** Last settings of the process that has the people. */
  #elsewhere: Settings = {};

  constructor(
    client: () => JoustClient,
    known: () => Known | undefined,
    random: Random,
    peers: Peers,
  ) {
    this.#client = client;
    this.#known = known;
    this.#random = random;
    this.#peers = peers;
    peers.on("voters", (settings: Settings) => {
      this.#elsewhere = settings;
    });
    peers.onFirst(() => this.#apply(this.#elsewhere));
    peers.answer("voters", () => (peers.isFirst ? this.#own : undefined));
    peers.answer("set voters", (settings: Settings) =>
      peers.isFirst ? this.set(settings) : undefined,
    );
  }

  async state(): Promise<Voters> {
    const [there] = this.#peers.isFirst ? [] : ((await this.#peers.ask("voters")) as Voters[]);
    return there ?? this.#own;
  }

  async set(settings: Settings): Promise<void> {
    if (!this.#peers.isFirst) return void (await this.#peers.ask("set voters", settings));
    this.#apply(settings);
    this.#peers.keep("voters", "voters", { ...this.#settings, ...settings });
  }

  get #own(): Voters {
    return {
      ...this.#settings,
      cast: this.#cast,
      failed: this.#failed,
      stop_at: this.#stopAt ?? null,
      best_model: this.#known()?.profile.best() ?? null,
      stages: this.#progress.stages,
    };
  }

  #apply({ stop_after: further, ...settings }: Settings): void {
    this.#settings = { ...this.#settings, ...settings };
    this.#stopAt = further === undefined ? undefined : this.#cast + further;
    clearInterval(this.#timer);
    this.#timer = undefined;
    const { on, votes_per_minute: rate } = this.#settings;
    if (!on || this.#isStopped) return;
    const began = performance.now();
    let started = 0;
    // A busy machine calls the timer late, so each call starts all votes that are due.
    this.#timer = setInterval(
      () => {
        const due = Math.floor(((performance.now() - began) * rate) / 60_000);
        for (; started < due; started++) this.#castVote();
      },
      Math.max(SHORTEST_MS, 60_000 / rate),
    );
    this.#timer.unref();
  }

  /** Stops the voters of this process for good. */
  stop(): void {
    this.#isStopped = true;
    this.#apply({ on: false });
  }

  async #castVote(): Promise<void> {
    if (this.#running >= MAX_RUNNING) return;
    // Votes on their way are counted, so that no vote is cast beyond the limit.
    if (this.#stopAt !== undefined && this.#cast + this.#running >= this.#stopAt) return;
    this.#running++;
    try {
      const [isCast] = await Promise.all([this.#vote(), this.#request()]);
      if (isCast) this.#cast++;
    } catch {
      this.#failed++;
    } finally {
      this.#running--;
      if (this.#stopAt !== undefined && this.#cast >= this.#stopAt) this.set({ on: false });
    }
  }

  /** Gets two answers to a question and votes. */
  async #vote(): Promise<boolean> {
    const question = this.#draw();
    if (!question) return false;
    const voter = `sandbox voter ${1 + this.#random.integer(this.#settings.voters)}`;
    const request = { ...this.#requestOf(question), joust: { duel: true } };
    const { id, choices } = await this.#client().chat(request);
    if (choices.length !== 2) return false;
    const right = choices.map(({ message }) => message.content?.includes(question.answer) ?? false);
    await this.#client().castVote({ id, winner: verdictOn(right, this.#random), voter });
    return true;
  }

  /** Sends an ordinary request and measures the choice of the router with the true quality. */
  async #request(): Promise<void> {
    const question = this.#draw();
    if (!question) return;
    const votes = this.#cast;
    const { joust } = await this.#client().chat(this.#requestOf(question));
    const { profile } = this.#known()!;
    const { category } = question;
    const model = joust?.model;
    // Models that joust.yaml renames are not in the profile.
    if (model === undefined || !profile.models.includes(model)) return;
    const best = profile.best();
    this.#progress.add(votes, {
      quality: profile.quality(model, category),
      cost: profile.cost(model, category),
      bestQuality: profile.quality(best, category),
      bestCost: profile.cost(best, category),
    });
  }

  #draw(): Question | undefined {
    const { questions = [] } = this.#known() ?? {};
    return questions[this.#random.integer(Math.max(1, questions.length))];
  }

  /** The number makes each prompt different, because the same prompt gets the same answer. */
  #requestOf({ query }: Question) {
    const content = `${query} (${this.#random.integer(1_000_000)})`;
    return { model: "auto", messages: [{ role: "user", content }] };
  }
}

/** Vote of a person who usually recognises a right answer. The arguments say which answers are right. */
export function verdictOn([a, b]: readonly boolean[], random: Random): 0 | 1 | "tie" | "both_bad" {
  if (a === b) {
    // Half of the time a person prefers one of two equally good answers.
    if (random.uniform() < PICKY) return random.integer(2) as 0 | 1;
    return a ? "tie" : "both_bad";
  }
  const better = a ? 0 : 1;
  return random.uniform() < SLIP ? ((1 - better) as 0 | 1) : better;
}

const MAX_RUNNING = 128;
/** Shortest time between two calls of the timer. */
const SHORTEST_MS = 20;
const PICKY = 0.5;
export const SLIP = 0.05;

/** Sends requests of this process to itself until `signal` aborts. */
export function directFetch(signal: AbortSignal): typeof globalThis.fetch {
  // Its own agent connects directly, even if the environment configures a proxy.
  const dispatcher = new Agent();
  const direct = (url: string, init: object) => fetch(url, { ...init, signal, dispatcher });
  return direct as unknown as typeof globalThis.fetch;
}
