import { useEffect, useRef, useState } from "preact/hooks";
import { type Exchange, isDuel, isStreaming } from "../conversation/exchange.ts";

/**
 * Tells a screen reader about the progress of the answers: not each word, but when an answer
 * starts, ends or fails. Messages are added to a log, so that a message never replaces an
 * earlier one that the screen reader has not read yet.
 */
export function Announcer({ exchange }: { exchange: Exchange }) {
  const [messages, setMessages] = useState<readonly string[]>([]);
  const before = useRef<Exchange | undefined>(undefined);
  useEffect(() => {
    const isNew = before.current?.id !== exchange.id;
    const added = changes(isNew ? undefined : before.current, exchange);
    before.current = exchange;
    if (isNew) setMessages(added);
    else if (added.length > 0) setMessages((all) => [...all, ...added]);
  }, [exchange]);
  return (
    <div role="log" aria-label="Progress of the answers" class="sr-only">
      {messages.map((message, i) => (
        <p key={String(i)}>{message}</p>
      ))}
    </div>
  );
}

/** The announcements for everything that differs between two states of an exchange. */
export function changes(before: Exchange | undefined, exchange: Exchange): string[] {
  const names = isDuel(exchange) ? ["Answer A", "Answer B"] : ["The answer"];
  const messages = exchange.answers.flatMap(({ status }, slot) =>
    before && status === "done" && before.answers[slot]?.status !== "done"
      ? [`${names[slot]} is finished.`]
      : [],
  );
  if (!before && isStreaming(exchange)) {
    messages.push(isDuel(exchange) ? "Two answers are on their way." : "An answer is on its way.");
  }
  if (before && exchange.problem !== undefined && exchange.problem !== before.problem) {
    messages.push(exchange.problem);
  }
  if (before && exchange.vote?.status === "saved" && before.vote?.status !== "saved") {
    messages.push("Your vote is saved.");
  }
  return messages;
}
