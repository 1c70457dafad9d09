import { effectiveVotes } from "../../src/learner/effective.fixture.ts";
import { findPolicy } from "../../src/learner/events.fixture.ts";
import { Fold } from "../../src/learner/fold.ts";
import { restartsLearning } from "../../src/learner/vote-schedule.ts";
import type { Configured, LogEvent, Logged } from "../../src/store/events.ts";

/** An event as it was logged, and the position of the event that erased it, if any. */
export interface Entry {
  readonly event: Logged<LogEvent>;
  erasedBy: number;
}

/** The posterior at any version, from an uninterrupted fold of the log in the obvious way. */
export class Reference {
  readonly #entries: readonly Entry[];
  #fold = new Fold(findPolicy);
  #version = 0;
  #isFrozen = false;
  /** Weights of voters at the version. */
  #weights: ReadonlyMap<string, number> = new Map();

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
  }

  /** The posterior at a version. Versions must be requested in ascending order. */
  at(version: number): Fold {
    const next = this.#entries.filter(
      ({ event: { position } }) => position > this.#version && position <= version,
    );
    this.#version = version;
    if (next.every((entry) => this.#isPlain(entry))) this.#continue(next);
    else this.#startAgain();
    return this.#fold;
  }

  /** Whether the fold can continue with an event. */
  #isPlain({ event }: Entry): boolean {
    if (event.kind === "voted") return !this.#isFrozen && this.#fold.configuration !== undefined;
    const { configuration } = this.#fold;
    return (
      event.kind === "configured" && !!configuration && !restartsLearning(configuration, event)
    );
  }

  #continue(entries: readonly Entry[]): void {
    for (const { event, erasedBy } of entries) {
      if (event.kind === "configured") this.#fold.configure(event);
      else if (event.kind === "voted" && erasedBy > this.#version) {
        const weight = this.#weights.get(event.voter) ?? 1;
        if (weight > 0) this.#fold.learn(event, weight);
      }
    }
  }

  #startAgain(): void {
    const version = this.#version;
    const events = this.#entries
      .filter(({ event, erasedBy }) => event.position <= version && erasedBy > version)
      .map(({ event }) => event);
    const fold = new Fold(findPolicy);
    const configurations = events.filter((event) => event.kind === "configured");
    const base = configurations.findLast(
      (event, i) => i === 0 || restartsLearning(configurations[i - 1]!, event),
    );
    this.#fold = fold;
    const weighings = events.filter((event) => event.kind === "voter_weighed");
    this.#weights = new Map(weighings.map(({ voter, weight }) => [voter, weight]));
    this.#isFrozen =
      events.findLast(({ kind }) => kind === "frozen" || kind === "thawed")?.kind === "frozen";
    if (!base) return;
    fold.begin(base);
    const later: { position: number; configuration: Logged<Configured> }[] = configurations
      .filter(({ position }) => position > base.position)
      .map((configuration) => ({ position: configuration.position, configuration }));
    const steps = [...effectiveVotes(events), ...later].sort((a, b) => a.position - b.position);
    for (const step of steps) {
      if ("vote" in step) fold.learn(step.vote, step.weight);
      else fold.configure(step.configuration);
    }
  }
}
