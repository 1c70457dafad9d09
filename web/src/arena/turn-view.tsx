import { useState } from "preact/hooks";
import { useDecision } from "../decision/use-decision.ts";
import { Button } from "../parts/button.tsx";
import { ThumbDown, ThumbUp } from "../parts/icons.tsx";
import { decisionHref } from "../shell/route.ts";
import { AnswerCard } from "./answer-card.tsx";
import { DuelResult } from "./duel-result.tsx";
import { type Choice, canVote, isDuel, isOpen, isStreaming, keptSlot, type Turn } from "./turn.ts";

interface TurnProps {
  readonly turn: Turn;
  readonly isLast: boolean;
  readonly vote: (choice: Choice) => void;
  readonly askAgain: () => void;
  /** Another question, at once. */
  readonly askNext: (() => void) | undefined;
}

export function TurnView(props: TurnProps) {
  const { turn } = props;
  return (
    <div class={`flex flex-col gap-4 ${isDuel(turn) ? "" : COLUMN}`}>
      <div class="flex justify-end">
        <p
          // What scrolls has to be reached by keyboard.
          {...(isLong(turn.prompt) && { tabIndex: 0 })}
          class="max-h-72 max-w-[min(46rem,100%)] overflow-auto rounded-2xl rounded-br-md bg-sunken px-4 py-2.5 whitespace-pre-wrap"
        >
          <span class="sr-only">You asked: </span>
          {turn.prompt}
        </p>
      </div>
      {isDuel(turn) ? <DuelTurn {...props} /> : <SingleTurn {...props} />}
      {turn.note !== undefined && <p class="text-sm text-muted">Note: {turn.note}</p>}
      {turn.problem !== undefined && <Problem {...props} />}
    </div>
  );
}

/** A line of one answer is not as long as the window is wide. */
const COLUMN = "mx-auto w-full max-w-4xl";

function isLong(text: string): boolean {
  return text.length > 300 || text.split("\n").length > 9;
}

function DuelTurn({ turn, isLast, vote, askNext }: TurnProps) {
  const isKept = turn.vote?.status === "kept";
  const phase = isStreaming(turn) ? "streaming" : "ended";
  const { decision: known } = useDecision(turn.decision, isKept ? phase : undefined, (found) => {
    const hasLearnt = (found.now?.posterior_version ?? 0) > found.position;
    return hasLearnt && (found.answers.length === 2 || phase === "streaming");
  });
  const [isSpread, setIsSpread] = useState(false);
  const winner = turn.vote && "winner" in turn.vote.choice ? turn.vote.choice.winner : undefined;
  const isPast = !isLast && !isOpen(turn) && !isSpread;
  const slots = isPast ? [keptSlot(turn)] : [0, 1];
  return (
    <>
      <div class={`grid items-start gap-4 ${isPast ? "max-w-4xl" : "md:grid-cols-2"}`}>
        {slots.map((slot) => (
          <AnswerCard
            key={slot}
            letter={slot === 0 ? "A" : "B"}
            answer={turn.answers[slot]!}
            model={known?.models?.[slot]}
            facts={
              known?.hidden === undefined ? known?.answers.find((a) => a.slot === slot) : undefined
            }
            isPreferred={winner === slot}
          />
        ))}
      </div>
      {!isLast && !isOpen(turn) && (
        <Button look="quiet" class="self-start" onClick={() => setIsSpread(!isSpread)}>
          {isPast ? "Show both answers" : "Show one answer"}
        </Button>
      )}
      {isLast && turn.vote && (
        <DuelResult turn={turn} decision={known} vote={vote} askNext={askNext} />
      )}
    </>
  );
}

function SingleTurn({ turn, isLast, vote, askNext }: TurnProps) {
  const answer = turn.answers[0]!;
  const isStill = !isStreaming(turn);
  const { decision } = useDecision(
    turn.decision,
    isStill ? "ended" : undefined,
    ({ answers }) => answers.length > 0,
  );
  const rating = turn.vote && "rating" in turn.vote.choice ? turn.vote.choice.rating : undefined;
  const thumbs = [
    { value: 1, text: "Good answer", Icon: ThumbUp },
    { value: -1, text: "Bad answer", Icon: ThumbDown },
  ] as const;
  return (
    <>
      <AnswerCard
        answer={answer}
        model={decision?.models?.[0] ?? answer.model}
        facts={decision?.answers.find(({ status }) => status !== "failed")}
      >
        <footer class="flex flex-wrap items-center gap-1 border-t border-line px-2 py-1.5">
          {thumbs.map(({ value, text, Icon }) => (
            <Button
              key={value}
              look="quiet"
              aria-label={text}
              aria-pressed={rating === value}
              disabled={!canVote(turn) && rating !== value}
              class="aria-pressed:bg-tint aria-pressed:text-accent"
              onClick={() => rating === undefined && vote({ rating: value })}
            >
              <Icon />
            </Button>
          ))}
          <span class="text-sm text-muted" aria-live="polite">
            {turn.vote?.status === "kept" && "Thank you, the vote is kept."}
            {turn.vote?.status === "sending" && (turn.vote.problem ?? "Saving\u2026")}
            {turn.vote?.status === "refused" && turn.vote.problem}
          </span>
          {decision?.id && (
            <a
              href={decisionHref(decision.id)}
              class="ml-auto px-2 text-sm text-muted underline underline-offset-2 hover:text-ink"
            >
              Why this model?
            </a>
          )}
        </footer>
      </AnswerCard>
      {isLast && isStill && askNext && (
        <Button class="self-start" onClick={askNext}>
          Another question
        </Button>
      )}
    </>
  );
}

function Problem({ turn, isLast, askAgain }: TurnProps) {
  return (
    <div class="flex flex-wrap items-center gap-3 rounded-xl border border-line bg-surface px-4 py-3">
      <p class="flex-1 text-sm">
        <span class="font-medium text-bad">Broken off.</span> {turn.problem}
      </p>
      {isLast && <Button onClick={askAgain}>Ask again</Button>}
    </div>
  );
}
