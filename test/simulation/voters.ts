import { voted } from "../../src/learner/events.fixture.ts";
import type { Voted } from "../../src/store/events.ts";
import { StoreUnavailable, VoteRefused } from "../../src/store/store-error.ts";
import type { Checks } from "./checks.ts";
import type { SimulatedNode, SimulatedProcess } from "./node.ts";
import type { Scheduler } from "./scheduler.ts";

export interface ClientParts {
  readonly scheduler: Scheduler;
  readonly checks: Checks;
  readonly nodes: readonly SimulatedNode[];
}

type Answer = "logged" | "repeated" | "refused" | "unavailable";

/** People who vote. A person sends a vote again until it is acknowledged or patience ends. */
export class Voters {
  /** Number of people who still vote. */
  active = 0;
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /** Person n votes once, perhaps on two nodes at the same time, and perhaps votes again or differently. */
  async vote(n: number): Promise<void> {
    this.active++;
    const { scheduler } = this.#parts;
    const isToken = scheduler.chance(0.3);
    const vote = voted(n, isToken ? { byToken: true, voter: "" } : {});
    // A token is one ballot, whatever name the voter gives.
    const copy = isToken ? { ...vote, voter: "v1" } : vote;
    const attempts = scheduler.chance(0.15) ? 1 : 20;
    const sentAt = scheduler.time;
    const twice = scheduler.chance(0.2) ? this.#cast(copy, attempts, sentAt) : undefined;
    const answer = await this.#cast(vote, attempts, sentAt);
    await twice;
    const isKnown = answer === "logged" || answer === "repeated";
    if (isKnown && scheduler.chance(0.2)) await this.#castAgain(copy, sentAt);
    else if (scheduler.chance(0.2)) await this.#castAnother(vote, isKnown, sentAt);
    this.active--;
  }

  async #cast(vote: Voted, attempts: number, sentAt: number): Promise<Answer> {
    const { scheduler, checks } = this.#parts;
    for (let n = 1; ; n++) {
      const answer = await this.#send(vote);
      if (answer === "logged" || answer === "repeated") checks.acknowledged(vote, sentAt);
      if (answer !== "unavailable" || n === attempts) return answer;
      await scheduler.sleep(scheduler.between(20, 800));
    }
  }

  /** Sends a vote again that was acknowledged before. It must be recognized. */
  async #castAgain(vote: Voted, sentAt: number): Promise<void> {
    const { checks } = this.#parts;
    const answer = await this.#send(vote);
    if (answer === "refused" || (answer === "logged" && !checks.isErased(vote.voter, sentAt))) {
      checks.fail(`the vote on ${vote.decision} was ${answer} when it was sent again`);
    }
  }

  /** Sends another verdict with the same ballot. It must be refused if the first one was acknowledged. */
  async #castAnother(vote: Voted, isKnown: boolean, sentAt: number): Promise<void> {
    const { checks } = this.#parts;
    const verdict = { rating: 0.25, slot: 0 };
    const other = { ...vote, verdict, models: vote.models.slice(0, 1), values: [0.5] };
    const answer = await this.#send(other);
    if (answer !== "logged" && answer !== "repeated") return;
    if (!isKnown) checks.acknowledged(other, sentAt);
    else if (!checks.isErased(vote.voter, sentAt)) {
      checks.fail(`another vote on ${vote.decision} was ${answer}`);
    }
  }

  /** Sends a vote to a node. The answer is unknown if the node dies or does not answer in time. */
  #send(vote: Voted): Promise<Answer> {
    const { scheduler, nodes } = this.#parts;
    const process = anyProcess(scheduler, nodes);
    if (!process) return Promise.resolve("unavailable");
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const cancel = scheduler.after(PATIENCE_MS, () => resolve("unavailable"));
    const receive = async () => {
      const answer = await this.#receive(process, vote);
      scheduler.note(process.name, `vote on ${vote.decision} ${answer}`);
      cancel();
      resolve(answer);
    };
    scheduler.after(scheduler.between(0.1, 5), receive, process);
    return promise;
  }

  /** Accepts a vote as the gateway does. */
  async #receive(process: SimulatedProcess, vote: Voted): Promise<Answer> {
    const sent = { ...vote, at: process.date() };
    this.#parts.checks.sent(sent);
    try {
      return await process.log.vote(sent);
    } catch (error) {
      if (error instanceof VoteRefused) return "refused";
      if (error instanceof StoreUnavailable) return "unavailable";
      this.#parts.checks.fail(`a vote failed: ${String(error)}`);
      return "unavailable";
    }
  }
}

/** Longest time that a person waits for an answer. */
const PATIENCE_MS = 2500;

/** A process that accepts requests. */
export function anyProcess(
  { random }: Scheduler,
  nodes: readonly SimulatedNode[],
): SimulatedProcess | undefined {
  const ready = nodes.flatMap(({ process }) => (process?.isReady ? [process] : []));
  return ready.length === 0 ? undefined : ready[random.integer(ready.length)];
}
