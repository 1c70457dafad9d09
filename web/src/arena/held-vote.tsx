import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type DuelChoice, type Exchange, winnerOf } from "../conversation/exchange.ts";
import { usePage } from "../page/page.ts";
import { Button } from "../parts/button.tsx";
import { Next, Undo } from "../parts/icons.tsx";
import { scrollBehavior } from "../parts/media.ts";

/** A vote that can still be undone: the reasons for it, and the time until it is sent. */
export function HeldVote({ exchange }: { exchange: Exchange }) {
  const { conversation } = usePage();
  const { id, vote } = exchange;
  const { sendAt, reasons = [], comment = "" } = vote!;
  const winner = winnerOf(vote) ?? "tie";
  const reveal = useRef<HTMLButtonElement>(null);
  const section = useRef<HTMLElement>(null);
  // Enter shows the models.
  useLayoutEffect(() => {
    reveal.current?.focus({ preventScroll: true });
    section.current?.scrollIntoView({ block: "nearest", behavior: scrollBehavior() });
  }, []);
  const toggle = (reason: string) =>
    conversation.explain(id, {
      reasons: reasons.includes(reason)
        ? reasons.filter((one) => one !== reason)
        : [...reasons, reason],
    });
  return (
    <section
      ref={section}
      aria-label="Your vote"
      class="scroll-mb-36 flex flex-col gap-3 rounded-2xl border border-line bg-surface px-4 py-4 sm:px-5"
    >
      <div class="flex flex-wrap items-center gap-2">
        <div class="min-w-0 flex-1 basis-60">
          <p class="text-lg font-medium">{HEADLINES[winner]}</p>
          <Countdown sendAt={sendAt} />
        </div>
        <Button onClick={() => conversation.undo(id)}>
          <Undo /> Undo
        </Button>
        <Button variant="primary" ref={reveal} onClick={() => conversation.send(id)}>
          Show the models <Next />
        </Button>
      </div>
      <fieldset class="flex flex-wrap items-center gap-2">
        <legend class="mb-2 text-sm text-muted">Why? (optional)</legend>
        {REASONS[winner].map((reason) => (
          <button
            key={reason}
            type="button"
            aria-pressed={reasons.includes(reason)}
            onClick={() => toggle(reason)}
            class="min-h-9 rounded-full border border-line px-3 text-sm hover:border-strong aria-pressed:border-accent aria-pressed:bg-tint aria-pressed:text-accent"
          >
            {reason}
          </button>
        ))}
        <input
          type="text"
          maxLength={1000}
          value={comment}
          aria-label="Comment on your vote"
          placeholder="Comment"
          class="min-h-9 min-w-0 flex-1 basis-48 rounded-full border border-strong bg-page px-3 text-sm"
          onInput={(event) => conversation.explain(id, { comment: event.currentTarget.value })}
          onKeyDown={(event) => event.key === "Enter" && conversation.send(id)}
        />
      </fieldset>
    </section>
  );
}

const HEADLINES: Readonly<Record<DuelChoice, string>> = {
  0: "Answer A is better",
  1: "Answer B is better",
  tie: "A tie",
  both_bad: "Both answers are bad",
};

const BETTER = ["Correct", "Clearer", "More complete", "Better style", "Follows the request"];
const REASONS: Readonly<Record<DuelChoice, readonly string[]>> = {
  0: BETTER,
  1: BETTER,
  tie: ["Both correct", "Nearly the same", "Each has strengths"],
  both_bad: ["Wrong", "Incomplete", "Ignores the request", "Refuses", "Harmful"],
};

/** Seconds until the vote is sent. Screen readers hear the sentence once. */
function Countdown({ sendAt }: { sendAt: number | undefined }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [sendAt]);
  const seconds = Math.max(0, Math.ceil(((sendAt ?? now) - now) / 1000));
  return (
    <p class="mt-0.5 text-sm text-muted tabular-nums">
      Sent in <span aria-hidden="true">{seconds} s</span>
      <span class="sr-only">ten seconds</span>. Until then you can undo it; the models stay hidden.
    </p>
  );
}
