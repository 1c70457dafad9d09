import { useEffect } from "preact/hooks";
import type { Conversation } from "./conversation.ts";
import { type Choice, canVote, isDuel } from "./turn.ts";

const DUEL_KEYS: Readonly<Record<string, Choice>> = {
  1: { winner: 0 },
  2: { winner: 1 },
  3: { winner: "tie" },
  4: { winner: "both_bad" },
};
const SINGLE_KEYS: Readonly<Record<string, Choice>> = { 1: { rating: 1 }, 2: { rating: -1 } };

/** Votes on the newest turn by key, wherever the focus is but where one writes. */
export function useVoteKeys(conversation: Conversation): void {
  useEffect(() => {
    const vote = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const turn = conversation.turns.value.at(-1);
      if (!turn || !canVote(turn) || isWriting(event.target)) return;
      const choice = (isDuel(turn) ? DUEL_KEYS : SINGLE_KEYS)[event.key];
      if (!choice) return;
      event.preventDefault();
      conversation.vote(turn.id, choice);
    };
    addEventListener("keydown", vote);
    return () => removeEventListener("keydown", vote);
  }, [conversation]);
}

function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "radio";
  return target.isContentEditable || target.matches("textarea, select");
}
