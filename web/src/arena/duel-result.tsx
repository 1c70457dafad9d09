import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Decision } from "../../../src/client.ts";
import {
  continuedSlot,
  type DuelChoice,
  type Exchange,
  winnerOf,
} from "../conversation/exchange.ts";
import { usePage } from "../page/page.ts";
import { decisionHref } from "../page/route.ts";
import { Button } from "../parts/button.tsx";
import { Check, Next } from "../parts/icons.tsx";
import { scrollBehavior } from "../parts/media.ts";
import { Segmented } from "../parts/segmented.tsx";
import { WinBar } from "../parts/win-bar.tsx";
import { dollars } from "../text/format.ts";

/** The result of a vote: the names of the models, and how the vote changed the router's estimate. */
export function DuelResult({
  exchange,
  decision,
  askNext,
}: {
  exchange: Exchange;
  decision: Decision | undefined;
  askNext: (() => void) | undefined;
}) {
  const { conversation } = usePage();
  const next = useRef<HTMLButtonElement>(null);
  const section = useRef<HTMLElement>(null);
  const { status, problem } = exchange.vote!;
  const winner = winnerOf(exchange.vote) ?? "tie";
  const pick = winner === 0 ? "a" : winner === 1 ? "b" : undefined;
  // Focuses the button, so that Enter asks the next question, unless the person is already typing.
  useLayoutEffect(() => {
    const isWriting = document.activeElement?.matches("textarea");
    if (status === "saved" && !isWriting) next.current?.focus({ preventScroll: true });
  }, [status]);
  const isKnown = decision?.models !== undefined;
  useEffect(() => {
    section.current?.scrollIntoView({ block: "nearest", behavior: scrollBehavior() });
  }, [isKnown]);
  return (
    <section
      ref={section}
      aria-label="Your vote"
      class="scroll-mb-36 flex flex-col gap-4 rounded-2xl border border-line bg-surface px-4 py-4 sm:px-5"
    >
      <div class="flex flex-wrap items-center gap-x-4 gap-y-3">
        <div class="min-w-0 flex-1 basis-72">
          <p class="text-lg font-medium">{headline(winner, decision?.models)}</p>
          <p class="mt-0.5 flex items-center gap-1.5 text-sm text-muted">
            {status === "saved" && (
              <>
                <Check /> Your vote is saved.
              </>
            )}
            {status === "sending" && (problem ? `${problem}; trying again\u2026` : "Saving\u2026")}
            {status === "refused" && <span class="text-bad">Not counted: {problem}</span>}
          </p>
        </div>
        {status === "refused" && (
          <Button onClick={() => conversation.send(exchange.id)}>Vote again</Button>
        )}
        {askNext && (
          <Button variant="primary" ref={next} onClick={askNext}>
            Next question <Next />
          </Button>
        )}
      </div>
      {decision?.win_probability !== undefined && decision.models && (
        <WinBar
          a={decision.models[0]!}
          b={decision.models[1]!}
          before={decision.win_probability}
          after={decision.now?.win_probability}
          since="Since your vote"
          pick={pick}
        />
      )}
      {pick === undefined && exchange.answers.every(({ text }) => text !== "") && (
        <div class="flex flex-wrap items-center gap-3 text-sm">
          <span>A follow-up question continues with</span>
          <Segmented
            label="Answer that continues the conversation"
            options={CONTINUED}
            value={continuedSlot(exchange) === 1 ? "1" : "0"}
            onChange={(slot) => conversation.continueWith(exchange.id, slot === "1" ? 1 : 0)}
          />
        </div>
      )}
      {decision && !decision.hidden && (
        <p class="text-sm text-muted">
          {priceLine(decision)}{" "}
          <a href={decisionHref(decision.id)} class="underline underline-offset-2 hover:text-ink">
            Details of this decision
          </a>
        </p>
      )}
    </section>
  );
}

const CONTINUED = [
  { value: "0", text: "answer A" },
  { value: "1", text: "answer B" },
] as const;

function headline(winner: DuelChoice, models: readonly string[] | undefined): string {
  const [a = "A", b = "B"] = models ?? [];
  if (winner === "tie") return `A tie between ${a} and ${b}`;
  if (winner === "both_bad") return `Both ${a} and ${b} were bad`;
  return winner === 0 ? `You preferred ${a} to ${b}` : `You preferred ${b} to ${a}`;
}

function priceLine({ answers, models }: Decision): string {
  const costs = [0, 1].map((slot) => answers.find((answer) => answer.slot === slot)?.cost);
  const [a, b] = costs;
  if (a === undefined || b === undefined || !models || a === b) return "";
  const [dearer, cheaper] = a > b ? [0, 1] : [1, 0];
  const times = costs[dearer]! / costs[cheaper]!;
  if (!Number.isFinite(times))
    return `${models[dearer]} cost ${dollars(costs[dearer]!)}, ${models[cheaper]} nothing.`;
  if (times < 1.05) return `${models[0]} and ${models[1]} cost about the same.`;
  const ratio = times >= 10 ? Math.round(times) : times.toFixed(1);
  return `${models[dearer]} cost ${ratio} times as much as ${models[cheaper]}.`;
}
