import { useState } from "preact/hooks";
import type { Question } from "../conversation/conversation.ts";
import {
  awaitsVote,
  canVote,
  continuedSlot,
  type Exchange,
  isDuel,
  isStreaming,
  winnerOf,
} from "../conversation/exchange.ts";
import { useDecision } from "../decision/use-decision.ts";
import { usePage } from "../page/page.ts";
import { decisionHref } from "../page/route.ts";
import { Button } from "../parts/button.tsx";
import { Again, ThumbDown, ThumbUp, Undo } from "../parts/icons.tsx";
import { AnswerCard } from "./answer-card.tsx";
import { DuelResult } from "./duel-result.tsx";
import { HeldVote } from "./held-vote.tsx";
import { QuestionView } from "./question-view.tsx";

interface ExchangeProps {
  readonly exchange: Exchange;
  readonly isLast: boolean;
  /** Asks the same question as the next one. */
  readonly askAgain: () => void;
  /** Replaces this exchange and all later ones by a question. */
  readonly askFrom: (question: Question) => void;
  /** Starts a new conversation with another suggested question. */
  readonly askNext: (() => void) | undefined;
}

export function ExchangeView(props: ExchangeProps) {
  const { exchange, isLast, askFrom } = props;
  const canRepeat = isLast && !isStreaming(exchange) && !awaitsVote(exchange);
  return (
    <div class={`flex flex-col gap-4 ${isDuel(exchange) ? "" : COLUMN}`}>
      <QuestionView exchange={exchange} askFrom={askFrom} />
      {isDuel(exchange) ? <DuelExchange {...props} /> : <SingleExchange {...props} />}
      {exchange.note !== undefined && <p class="text-sm text-muted">Note: {exchange.note}</p>}
      {exchange.problem !== undefined && <Problem {...props} />}
      {canRepeat && exchange.problem === undefined && exchange.vote?.status !== "held" && (
        <Button variant="quiet" class="self-start" onClick={() => askFrom(exchange)}>
          <Again /> Regenerate
        </Button>
      )}
    </div>
  );
}

/** Limits the line length of a single answer in a wide window. */
const COLUMN = "mx-auto w-full max-w-4xl";

function DuelExchange({ exchange, isLast, askNext }: ExchangeProps) {
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
  const winner = winnerOf(exchange.vote);
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
      {isLast && exchange.vote?.status === "held" && <HeldVote exchange={exchange} />}
      {isLast && exchange.vote && exchange.vote.status !== "held" && (
        <DuelResult exchange={exchange} decision={known} askNext={askNext} />
      )}
    </>
  );
}

function SingleExchange({ exchange, isLast, askNext }: ExchangeProps) {
  const { conversation } = usePage();
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
              onClick={() => canVote(exchange) && conversation.vote(exchange.id, { rating: value })}
            >
              <Icon />
            </Button>
          ))}
          <span class="text-sm text-muted" aria-live="polite">
            {exchange.vote?.status === "held" && "Thank you. Your vote will be saved in a moment."}
            {exchange.vote?.status === "saved" && "Thank you. Your vote is saved."}
            {exchange.vote?.status === "sending" && (exchange.vote.problem ?? "Saving\u2026")}
            {exchange.vote?.status === "refused" && exchange.vote.problem}
          </span>
          {exchange.vote?.status === "held" && (
            <Button variant="quiet" onClick={() => conversation.undo(exchange.id)}>
              <Undo /> Undo
            </Button>
          )}
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
