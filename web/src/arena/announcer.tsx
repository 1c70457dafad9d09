import { useEffect, useRef, useState } from "preact/hooks";
import { isDuel, type Turn } from "./turn.ts";

/** Tells a screen reader how far the answers are: not each word, but when there is something to read. */
export function Announcer({ turn }: { turn: Turn }) {
  const [text, setText] = useState("");
  const before = useRef<Turn>(turn);
  useEffect(() => {
    const said = changeOf(before.current, turn);
    before.current = turn;
    if (said !== "") setText(said);
  }, [turn]);
  return (
    <p role="status" class="sr-only">
      {text}
    </p>
  );
}

function changeOf(before: Turn, turn: Turn): string {
  if (before.id !== turn.id)
    return isDuel(turn) ? "Two answers are on their way." : "An answer is on its way.";
  if (turn.vote?.status === "kept" && before.vote?.status !== "kept") return "Your vote is kept.";
  if (turn.problem !== undefined && turn.problem !== before.problem) return turn.problem;
  const names = isDuel(turn) ? ["Answer A", "Answer B"] : ["The answer"];
  const ended = turn.answers.flatMap(({ status }, slot) =>
    status === "done" && before.answers[slot]?.status !== "done"
      ? [`${names[slot]} is finished.`]
      : [],
  );
  return ended.join(" ");
}
