import { Agent, fetch } from "undici";
import type { Value } from "../../api/common.ts";
import type { VotersSettings } from "../../api/sandbox.ts";
import type { JoustClient } from "../../client/client.ts";
import type { Random } from "../../core/random/random.ts";
import type { Question } from "./questions.ts";

/**
 * Simulated voters. Each sends one of the project's questions, whose answer it knows, gets two
 * answers and votes for the right one, with occasional errors. The voters use the public HTTP
 * interface and know only what it shows.
 */
export class SandboxVoters {
  readonly #client: () => JoustClient;
  readonly #questions: () => readonly Question[];
  readonly #random: Random;
  #settings = { on: false, votes_per_minute: 60, voters: 5 };
  #timer: NodeJS.Timeout | undefined;
  #running = 0;
  #cast = 0;
  #failed = 0;

  constructor(client: () => JoustClient, questions: () => readonly Question[], random: Random) {
    this.#client = client;
    this.#questions = questions;
    this.#random = random;
  }

  get state() {
    return { ...this.#settings, cast: this.#cast, failed: this.#failed };
  }

  set(settings: Value<typeof VotersSettings>): void {
    this.#settings = { ...this.#settings, ...settings };
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (!this.#settings.on) return;
    this.#timer = setInterval(() => this.#castVote(), 60_000 / this.#settings.votes_per_minute);
    this.#timer.unref();
  }

  stop(): void {
    this.set({ on: false });
  }

  async #castVote(): Promise<void> {
    if (this.#running >= MAX_RUNNING) return;
    this.#running++;
    try {
      if (await this.#voteOnce()) this.#cast++;
    } catch {
      this.#failed++;
    } finally {
      this.#running--;
    }
  }

  async #voteOnce(): Promise<boolean> {
    const questions = this.#questions();
    if (questions.length === 0) return false;
    const question = questions[this.#random.integer(questions.length)]!;
    const voter = `sandbox voter ${1 + this.#random.integer(this.#settings.voters)}`;
    // The number makes each prompt different, because the same prompt gets the same answer.
    const content = `${question.query} (${this.#random.integer(1_000_000)})`;
    const request = { model: "auto", messages: [{ role: "user", content }], joust: { duel: true } };
    const { id, choices } = await this.#client().chat(request);
    if (choices.length !== 2) return false;
    const right = choices.map(({ message }) => message.content?.includes(question.answer) ?? false);
    await this.#client().castVote({ id, winner: verdictOn(right, this.#random), voter });
    return true;
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

const MAX_RUNNING = 64;
const PICKY = 0.5;
export const SLIP = 0.05;

/** Sends requests of this process to itself until `signal` aborts. */
export function directFetch(signal: AbortSignal): typeof globalThis.fetch {
  // Its own agent connects directly, even if the environment configures a proxy.
  const dispatcher = new Agent();
  const direct = (url: string, init: object) => fetch(url, { ...init, signal, dispatcher });
  return direct as unknown as typeof globalThis.fetch;
}
