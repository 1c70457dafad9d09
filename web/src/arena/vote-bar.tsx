import { canVote, type DuelChoice, type Exchange, isStreaming } from "../conversation/exchange.ts";
import { Button } from "../parts/button.tsx";
import { Stop } from "../parts/icons.tsx";

/** The short names are for narrow screens, where the buttons share one row. */
const CHOICES = [
  { choice: 0, key: "1", text: "A is better", short: "A" },
  { choice: 1, key: "2", text: "B is better", short: "B" },
  { choice: "tie", key: "3", text: "Tie", short: "Tie" },
  { choice: "both_bad", key: "4", text: "Both bad", short: "Both bad" },
] as const;

/** The buttons for the four votes on a duel, active as soon as both answers are readable. */
export function VoteBar({
  exchange,
  vote,
  skip,
  stop,
}: {
  exchange: Exchange;
  vote: (choice: DuelChoice) => void;
  skip: () => void;
  stop: () => void;
}) {
  const isReady = canVote(exchange);
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
        {isStreaming(exchange) ? (
          <Button variant="quiet" onClick={stop}>
            <Stop /> Stop
          </Button>
        ) : (
          <Button variant="quiet" onClick={skip}>
            Skip
          </Button>
        )}
      </div>
    </fieldset>
  );
}
