import { useEffect, useRef, useState } from "preact/hooks";
import { isDuel, isStreaming, type Turn } from "./turn.ts";

/**
 * Tells a screen reader about the progress of the answers: not each word, but when an answer
 * starts, ends or fails. Messages are added to a log, so that a message never replaces an
 * earlier one that the screen reader has not read yet.
 */
export function Announcer({ turn }: { turn: Turn }) {
  const [messages, setMessages] = useState<readonly string[]>([]);
  const before = useRef<Turn | undefined>(undefined);
  useEffect(() => {
    const isNew = before.current?.id !== turn.id;
    const added = changes(isNew ? undefined : before.current, turn);
    before.current = turn;
    if (isNew) setMessages(added);
    else if (added.length > 0) setMessages((all) => [...all, ...added]);
  }, [turn]);
  return (
    <div role="log" aria-label="Progress of the answers" class="sr-only">
      {messages.map((message, i) => (
        <p key={String(i)}>{message}</p>
      ))}
    </div>
  );
}

/** The announcements for everything that differs between two states of a turn. */
export function changes(before: Turn | undefined, turn: Turn): string[] {
  const names = isDuel(turn) ? ["Answer A", "Answer B"] : ["The answer"];
  const messages = turn.answers.flatMap(({ status }, slot) =>
    before && status === "done" && before.answers[slot]?.status !== "done"
      ? [`${names[slot]} is finished.`]
      : [],
  );
  if (!before && isStreaming(turn)) {
    messages.push(isDuel(turn) ? "Two answers are on their way." : "An answer is on its way.");
  }
  if (before && turn.problem !== undefined && turn.problem !== before.problem) {
    messages.push(turn.problem);
  }
  if (before && turn.vote?.status === "kept" && before.vote?.status !== "kept") {
    messages.push("Your vote is kept.");
  }
  return messages;
}
