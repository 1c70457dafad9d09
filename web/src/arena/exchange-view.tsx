import { useState } from "preact/hooks";
import {
  awaitsVote,
  type Choice,
  canVote,
  continuedSlot,
  type Exchange,
  isDuel,
  isStreaming,
} from "../conversation/exchange.ts";
import { useDecision } from "../decision/use-decision.ts";
import { decisionHref } from "../page/route.ts";
import { Button } from "../parts/button.tsx";
import { ThumbDown, ThumbUp } from "../parts/icons.tsx";
import { AnswerCard } from "./answer-card.tsx";
import { DuelResult } from "./duel-result.tsx";

interface ExchangeProps {
  readonly exchange: Exchange;
  readonly isLast: boolean;
  readonly vote: (choice: Choice) => void;
  readonly askAgain: () => void;
  /** Starts a new conversation with another suggested question. */
  readonly askNext: (() => void) | undefined;
}

export function ExchangeView(props: ExchangeProps) {
  const { exchange } = props;
  return (
    <div class={`flex flex-col gap-4 ${isDuel(exchange) ? "" : COLUMN}`}>
      <div class="flex justify-end">
        <p
          // A text that scrolls must be reachable by keyboard.
          {...(isLong(exchange.prompt) && { tabIndex: 0 })}
          class="max-h-72 max-w-[min(46rem,100%)] overflow-auto rounded-2xl rounded-br-md bg-sunken px-4 py-2.5 whitespace-pre-wrap"
        >
          <span class="sr-only">You asked: </span>
          {exchange.prompt}
        </p>
      </div>
      {isDuel(exchange) ? <DuelExchange {...props} /> : <SingleExchange {...props} />}
      {exchange.note !== undefined && <p class="text-sm text-muted">Note: {exchange.note}</p>}
      {exchange.problem !== undefined && <Problem {...props} />}
    </div>
  );
}

/** Limits the line length of a single answer in a wide window. */
const COLUMN = "mx-auto w-full max-w-4xl";

function isLong(text: string): boolean {
  return text.length > 300 || text.split("\n").length > 9;
}

function DuelExchange({ exchange, isLast, vote, askNext }: ExchangeProps) {
  const isSaved = exchange.vote?.status === "saved";
  const phase = isStreaming(exchange) ? "streaming" : "ended";
  const { decision: known } = useDecision(
    exchange.decision,
    isSaved ? phase : undefined,
    (found) => {
      const version = found.now?.posterior_version ?? 0;
      const isLearned = found.votes.some(({ position }) => position <= version);
      return isLearned && (found.answers.length === 2 || phase === "streaming");
    },
  );
  const [isExpanded, setIsExpanded] = useState(false);
  const winner =
    exchange.vote && "winner" in exchange.vote.choice ? exchange.vote.choice.winner : undefined;
  const isCollapsed = !isLast && !awaitsVote(exchange) && !isExpanded;
  const slots = isCollapsed ? [continuedSlot(exchange)] : [0, 1];
  return (
    <>
      <div class={`grid items-start gap-4 ${isCollapsed ? "max-w-4xl" : "md:grid-cols-2"}`}>
        {slots.map((slot) => (
          <AnswerCard
            key={slot}
            letter={slot === 0 ? "A" : "B"}
            answer={exchange.answers[slot]!}
            model={known?.models?.[slot]}
            facts={
              known?.hidden === undefined ? known?.answers.find((a) => a.slot === slot) : undefined
            }
            isPreferred={winner === slot}
          />
        ))}
      </div>
      {!isLast && !awaitsVote(exchange) && (
        <Button variant="quiet" class="self-start" onClick={() => setIsExpanded(!isExpanded)}>
          {isCollapsed ? "Show both answers" : "Show one answer"}
        </Button>
      )}
      {isLast && exchange.vote && (
        <DuelResult exchange={exchange} decision={known} vote={vote} askNext={askNext} />
      )}
    </>
  );
}

function SingleExchange({ exchange, isLast, vote, askNext }: ExchangeProps) {
  const answer = exchange.answers[0]!;
  const isFinished = !isStreaming(exchange);
  const { decision } = useDecision(
    exchange.decision,
    isFinished ? "ended" : undefined,
    ({ answers }) => answers.length > 0,
  );
  const rating =
    exchange.vote && "rating" in exchange.vote.choice ? exchange.vote.choice.rating : undefined;
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
              variant="quiet"
              aria-label={text}
              aria-pressed={rating === value}
              disabled={!canVote(exchange) && rating !== value}
              class="aria-pressed:bg-tint aria-pressed:text-accent"
              onClick={() => rating === undefined && vote({ rating: value })}
            >
              <Icon />
            </Button>
          ))}
          <span class="text-sm text-muted" aria-live="polite">
            {exchange.vote?.status === "saved" && "Thank you. Your vote is saved."}
            {exchange.vote?.status === "sending" && (exchange.vote.problem ?? "Saving\u2026")}
            {exchange.vote?.status === "refused" && exchange.vote.problem}
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
      {isLast && isFinished && askNext && (
        <Button class="self-start" onClick={askNext}>
          Another question
        </Button>
      )}
    </>
  );
}

function Problem({ exchange, isLast, askAgain }: ExchangeProps) {
  return (
    <div class="flex flex-wrap items-center gap-3 rounded-xl border border-line bg-surface px-4 py-3">
      <p class="flex-1 text-sm">
        <span class="font-medium text-bad">Incomplete.</span> {exchange.problem}
      </p>
      {isLast && <Button onClick={askAgain}>Ask again</Button>}
    </div>
  );
}
