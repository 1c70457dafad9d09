import { useEffect } from "preact/hooks";
import type { Conversation } from "../conversation/conversation.ts";
import { type Choice, canVote, isDuel } from "../conversation/exchange.ts";

const DUEL_KEYS: Readonly<Record<string, Choice>> = {
  1: { winner: 0 },
  2: { winner: 1 },
  3: { winner: "tie" },
  4: { winner: "both_bad" },
};
const SINGLE_KEYS: Readonly<Record<string, Choice>> = { 1: { rating: 1 }, 2: { rating: -1 } };

/** Lets the person vote on the newest exchange with number keys, unless a text field has the focus or a dialog is open. */
export function useVoteKeys(conversation: Conversation): void {
  useEffect(() => {
    const vote = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const exchange = conversation.exchanges.value.at(-1);
      if (!exchange || !canVote(exchange) || isTextField(event.target)) return;
      if (document.querySelector("dialog[open]")) return;
      const choice = (isDuel(exchange) ? DUEL_KEYS : SINGLE_KEYS)[event.key];
      if (!choice) return;
      event.preventDefault();
      conversation.vote(exchange.id, choice);
    };
    addEventListener("keydown", vote);
    return () => removeEventListener("keydown", vote);
  }, [conversation]);
}

function isTextField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "radio";
  return target.isContentEditable || target.matches("textarea, select");
}
