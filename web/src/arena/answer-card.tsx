import type { ComponentChildren } from "preact";
import type { DecisionAnswer } from "../../../src/client.ts";
import type { Answer } from "../conversation/exchange.ts";
import { Markdown } from "../markdown/markdown.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Check } from "../parts/icons.tsx";
import { dollars, duration } from "../text/format.ts";

/** One answer. The model's name, the price and the time appear once they may be shown. */
export function AnswerCard({
  letter,
  answer,
  model,
  facts,
  isPreferred = false,
  children,
}: {
  letter?: "A" | "B";
  answer: Answer;
  model: string | undefined;
  facts: DecisionAnswer | undefined;
  isPreferred?: boolean;
  children?: ComponentChildren;
}) {
  const { text, status } = answer;
  const isUnfinished = status === "waiting" || status === "streaming";
  return (
    <article
      aria-busy={isUnfinished}
      aria-label={letter ? `Answer ${letter}` : "Answer"}
      class={`flex min-w-0 flex-col rounded-2xl border bg-surface ${isPreferred ? "border-accent outline-1 outline-accent" : "border-line"}`}
    >
      <header class="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2">
        {letter && (
          <span
            class={`flex size-7 items-center justify-center rounded-lg text-sm font-semibold ${isPreferred ? "bg-accent text-on-accent" : "bg-sunken"}`}
          >
            {letter}
          </span>
        )}
        {model && <span class="font-medium">{model}</span>}
        {isPreferred && (
          <span class="flex items-center gap-1 text-sm text-accent">
            <Check /> your choice
          </span>
        )}
        <span class="ml-auto flex items-center gap-2 text-sm text-muted">
          {facts ? <Facts {...facts} /> : <Status answer={answer} />}
          {!isUnfinished && text !== "" && (
            <CopyButton text={withoutNote(text)} what={letter ? `answer ${letter}` : "answer"} />
          )}
        </span>
      </header>
      <div class="px-4 py-3.5">
        {text === "" ? <Placeholder answer={answer} /> : <Text text={text} />}
      </div>
      {children}
    </article>
  );
}

/** The answer's text. The note that the sandbox adds to each answer is shown in small print. */
function Text({ text }: { text: string }) {
  const answer = withoutNote(text);
  return (
    <>
      <Markdown text={answer} />
      {answer !== text && (
        <p class="mt-3 text-xs text-muted">
          {text.slice(answer.length).trim().replace(/[[\]]/g, "")}
        </p>
      )}
    </>
  );
}

function withoutNote(text: string): string {
  const at = text.lastIndexOf("[Joust sandbox:");
  return at < 0 ? text : text.slice(0, at).trimEnd();
}

function Facts({ cost, latency_ms, first_byte_ms, status }: DecisionAnswer) {
  return (
    <span class="flex flex-wrap gap-x-3 tabular-nums">
      {status === "cancelled" && <span>stopped</span>}
      {cost !== undefined && <span title="Price of this answer">{dollars(cost)}</span>}
      {latency_ms !== undefined && (
        <span
          title={first_byte_ms === undefined ? "" : `First token after ${duration(first_byte_ms)}`}
        >
          {duration(latency_ms)}
        </span>
      )}
    </span>
  );
}

function Status({ answer: { status, isThinking } }: { answer: Answer }) {
  if (isThinking) return <>thinking</>;
  switch (status) {
    case "waiting":
      return <>waiting</>;
    case "streaming":
      return <>writing</>;
    case "failed":
      return <>incomplete</>;
    case "done":
      return null;
  }
}

function Placeholder({ answer: { status } }: { answer: Answer }) {
  if (status === "failed") return <p class="text-muted">There is no answer.</p>;
  if (status === "done") return <p class="text-muted">The answer is empty.</p>;
  return (
    <div class="flex animate-pulse flex-col gap-2.5 py-1" aria-hidden="true">
      <div class="h-3 w-11/12 rounded bg-sunken" />
      <div class="h-3 w-4/5 rounded bg-sunken" />
      <div class="h-3 w-3/5 rounded bg-sunken" />
    </div>
  );
}
