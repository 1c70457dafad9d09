import { castVote, castVoteOnLeaving } from "../api/vote.ts";
import { type Choice, commentOf, type Exchange, type Vote } from "./exchange.ts";

/**
 * Time for which a vote can be undone. A vote that was sent cannot be undone: the names of the models are shown, and
 * the router has learned from it.
 */
const UNDO_MS = 10_000;

/** Sends the votes of a conversation: each one once, and ten seconds after it was cast. */
export class Ballots {
  readonly #set: (id: string, vote: Vote | undefined) => void;
  readonly #timers = new Map<string, number>();

  constructor(set: (id: string, vote: Vote | undefined) => void) {
    this.#set = set;
  }

  /** Continues with the votes of a restored conversation. */
  restore(exchanges: readonly Exchange[]): void {
    for (const exchange of exchanges) {
      const status = exchange.vote?.status;
      if (status === "held" || status === "sending") this.send(exchange);
    }
  }

  hold(exchange: Exchange, choice: Choice): void {
    if (exchange.decision === undefined) return;
    this.#wait(exchange, { choice, status: "held" });
  }

  /** Keeps the reasons of a held vote, and starts its ten seconds again. */
  explain(exchange: Exchange, reasons: Pick<Vote, "reasons" | "comment">): void {
    const { vote } = exchange;
    if (vote?.status === "held") this.#wait(exchange, { ...vote, ...reasons });
  }

  undo({ id, vote }: Exchange): void {
    if (vote?.status !== "held") return;
    this.#forget(id);
    this.#set(id, undefined);
  }

  async send({ id, decision, token, vote }: Exchange): Promise<void> {
    if (decision === undefined || !vote) return;
    this.#forget(id);
    const { sendAt: _, problem: __, ...rest } = vote;
    const set = (change: Pick<Vote, "status" | "problem">) => this.#set(id, { ...rest, ...change });
    set({ status: "sending" });
    try {
      await castVote(requestOf(decision, token, vote), (problem) =>
        set({ status: "sending", problem }),
      );
      set({ status: "saved" });
    } catch (error) {
      set({ status: "refused", problem: (error as Error).message });
    }
  }

  /** Sends the votes that can still be undone, because the conversation goes on. */
  sendHeld(exchanges: readonly Exchange[]): void {
    for (const exchange of exchanges) if (exchange.vote?.status === "held") this.send(exchange);
  }

  /** Sends held votes while the page is being closed. Sending one again later is harmless. */
  leave(exchanges: readonly Exchange[]): void {
    for (const { decision, token, vote } of exchanges) {
      if (vote?.status === "held" && decision !== undefined) {
        castVoteOnLeaving(requestOf(decision, token, vote));
      }
    }
  }

  #wait(exchange: Exchange, vote: Vote): void {
    const { id } = exchange;
    this.#forget(id);
    const held = { ...vote, sendAt: Date.now() + UNDO_MS };
    this.#set(id, held);
    const send = () => this.send({ ...exchange, vote: held });
    this.#timers.set(id, window.setTimeout(send, UNDO_MS));
  }

  #forget(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }
}

function requestOf(decision: string, token: string | undefined, vote: Vote) {
  const comment = commentOf(vote);
  return {
    id: decision,
    ...vote.choice,
    vote_token: token,
    ...(comment !== undefined && { comment }),
  };
}
