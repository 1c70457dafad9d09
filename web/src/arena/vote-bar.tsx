import { Button } from "../parts/button.tsx";
import { Stop } from "../parts/icons.tsx";
import { canVote, type DuelChoice, isStreaming, type Turn } from "./turn.ts";

/** On a telephone one row of short names leaves more room for the answers. */
const CHOICES = [
  { choice: 0, key: "1", text: "A is better", short: "A" },
  { choice: 1, key: "2", text: "B is better", short: "B" },
  { choice: "tie", key: "3", text: "Tie", short: "Tie" },
  { choice: "both_bad", key: "4", text: "Both bad", short: "Both bad" },
] as const;

/** The four votes, at any time once both have begun. */
export function VoteBar({
  turn,
  vote,
  skip,
  stop,
}: {
  turn: Turn;
  vote: (choice: DuelChoice) => void;
  skip: () => void;
  stop: () => void;
}) {
  const isReady = canVote(turn);
  return (
    <fieldset class="flex flex-wrap items-center gap-2">
      <legend class="sr-only">Which answer is better?</legend>
      <div class="grid min-w-0 flex-1 basis-72 grid-cols-4 gap-2">
        {CHOICES.map(({ choice, key, text, short }) => (
          <Button
            key={key}
            disabled={!isReady}
            aria-label={text}
            aria-keyshortcuts={key}
            onClick={() => vote(choice)}
            class="min-h-12 px-1! font-medium sm:text-base! enabled:hover:border-accent enabled:hover:text-accent"
          >
            <span class="sm:hidden">{short}</span>
            <span class="max-sm:hidden">{text}</span>
            <kbd class="rounded border border-line px-1.5 font-mono text-xs text-muted max-sm:hidden">
              {key}
            </kbd>
          </Button>
        ))}
      </div>
      <div class="flex items-center max-sm:w-full max-sm:justify-center">
        {isStreaming(turn) ? (
          <Button look="quiet" onClick={stop}>
            <Stop /> Stop
          </Button>
        ) : (
          <Button look="quiet" onClick={skip}>
            Skip
          </Button>
        )}
      </div>
    </fieldset>
  );
}
