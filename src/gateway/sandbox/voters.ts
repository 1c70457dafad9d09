import type { Random } from "../../core/random/random.ts";
import type { Question } from "./questions.ts";

/** What simulated voters are told to do. */
export interface VotersSettings {
  readonly on: boolean;
  readonly votes_per_minute: number;
  /** How many people they pass for. */
  readonly voters: number;
}

/** The public interface, as they use it. */
export interface PublicInterface {
  /** Two answers to a question, and the id to vote by. */
  duel(question: string): Promise<{ id: string; answers: readonly string[] } | undefined>;
  vote(id: string, winner: 0 | 1 | "tie" | "both_bad", voter: string): Promise<void>;
}

/**
 * Voters in place of people: each asks one of the project's questions, whose
 * right answer it knows, sees two answers and votes as a person would who can
 * tell right from wrong, if not always. They come by the public interface and
 * know no more than it shows.
 */
export class SandboxVoters {
  readonly #public: PublicInterface;
  readonly #questions: () => readonly Question[];
  readonly #random: Random;
  #settings: VotersSettings = { on: false, votes_per_minute: 60, voters: 5 };
  #timer: NodeJS.Timeout | undefined;
  #underWay = 0;
  #cast = 0;
  #failed = 0;

  constructor(access: PublicInterface, questions: () => readonly Question[], random: Random) {
    this.#public = access;
    this.#questions = questions;
    this.#random = random;
  }

  get state() {
    return { ...this.#settings, cast: this.#cast, failed: this.#failed };
  }

  set(settings: Partial<VotersSettings>): void {
    this.#settings = { ...this.#settings, ...settings };
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (!this.#settings.on) return;
    this.#timer = setInterval(() => this.#turn(), 60_000 / this.#settings.votes_per_minute);
    this.#timer.unref();
  }

  stop(): void {
    this.set({ on: false });
  }

  async #turn(): Promise<void> {
    if (this.#underWay >= MOST_UNDER_WAY) return;
    this.#underWay++;
    try {
      if (await this.#voteOnce()) this.#cast++;
    } catch {
      this.#failed++;
    } finally {
      this.#underWay--;
    }
  }

  async #voteOnce(): Promise<boolean> {
    const questions = this.#questions();
    if (questions.length === 0) return false;
    const question = questions[this.#random.integer(questions.length)]!;
    const voter = `sandbox voter ${1 + this.#random.integer(this.#settings.voters)}`;
    // Equal prompts have equal answers, and nobody asks twice in the same words.
    const asked = `${question.query} (${this.#random.integer(1_000_000)})`;
    const shown = await this.#public.duel(asked);
    if (shown?.answers.length !== 2) return false;
    const right = shown.answers.map((answer) => answer.includes(question.answer));
    await this.#public.vote(shown.id, verdictOn(right, this.#random), voter);
    return true;
  }
}

/** Of one who can tell right from wrong, if not always; true: the answer is right. */
export function verdictOn([a, b]: readonly boolean[], random: Random): 0 | 1 | "tie" | "both_bad" {
  if (a === b) {
    // Of two good answers a person often likes one better, for reasons of their own.
    if (random.uniform() < PICKY) return random.integer(2) as 0 | 1;
    return a ? "tie" : "both_bad";
  }
  const better = a ? 0 : 1;
  return random.uniform() < SLIP ? ((1 - better) as 0 | 1) : better;
}

const MOST_UNDER_WAY = 64;
const PICKY = 0.5;
export const SLIP = 0.05;
