import type { Decision, DecisionAnswer } from "../../../src/client.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Panel } from "../parts/panel.tsx";
import { count, dollars, duration } from "../text/format.ts";

const COLUMNS: readonly Column[] = [
  { name: "Answer", isHidden: true },
  { name: "Model" },
  { name: "Status" },
  { name: "Time" },
  { name: "Tokens", isNumber: true },
  { name: "Actual price", isNumber: true },
];
const STATUS = { ok: "complete", failed: "failed", cancelled: "stopped" } as const;

/** The answers to a request: model, status, time, tokens and price. */
export function AnswersTable({ decision }: { decision: Decision }) {
  const { answers, duel, hidden } = decision;
  const longest = Math.max(1, ...answers.map(({ latency_ms = 0 }) => latency_ms));
  if (answers.length === 0) {
    return (
      <Panel title="Answers">
        <p class="text-sm text-muted">There is no answer yet, or none was requested.</p>
      </Panel>
    );
  }
  return (
    <Panel
      title="Answers"
      {...(hidden !== undefined && {
        about: "The names, times and prices are shown after the vote.",
      })}
    >
      <DataTable label="Answers" columns={COLUMNS}>
        {answers.map((answer) => (
          <Row key={answer.slot} answer={answer} isDuel={duel} longest={longest} />
        ))}
      </DataTable>
      {answers.map(
        ({ slot, text }) =>
          text !== undefined && (
            <details key={slot} class="text-sm" open>
              <summary class="text-muted hover:text-ink">Text of the answer</summary>
              <blockquote
                tabIndex={0}
                class="mt-2 max-h-96 overflow-auto rounded-xl bg-sunken px-4 py-3 whitespace-pre-wrap"
              >
                {text}
              </blockquote>
            </details>
          ),
      )}
    </Panel>
  );
}

function Row({
  answer,
  isDuel,
  longest,
}: {
  answer: DecisionAnswer;
  isDuel: boolean;
  longest: number;
}) {
  const { slot, model, status, latency_ms: latency, first_byte_ms: first, cost } = answer;
  const { input_tokens: input, output_tokens: output, fallbacks = [], error } = answer;
  return (
    <tr class="border-t border-line align-top tabular-nums">
      <td class="py-2 pr-3">{isDuel ? (slot === 0 ? "A" : "B") : ""}</td>
      <td class="py-2 pr-3">
        {model ?? "hidden"}
        {fallbacks.length > 0 && (
          <ol class="mt-1 max-w-md text-xs text-muted" aria-label="Attempts before this one">
            {fallbacks.map((one, i) => (
              <li key={`${i} ${one.model}`} class="break-words">
                {i + 1}. {one.model} failed: {one.reason}
              </li>
            ))}
          </ol>
        )}
        {error !== undefined && (
          <span class="mt-1 block max-w-md text-xs break-words text-bad">{error}</span>
        )}
      </td>
      <td class={`py-2 pr-3 ${status === "failed" ? "text-bad" : ""}`}>{STATUS[status]}</td>
      <td class="min-w-40 py-2 pr-3">
        {latency !== undefined && (
          <>
            <span class="flex h-2 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
              <span
                class="bg-strong"
                style={{ width: `${(100 * (first ?? latency)) / longest}%` }}
              />
              <span
                class="bg-accent"
                style={{ width: `${(100 * (latency - (first ?? latency))) / longest}%` }}
              />
            </span>
            <span class="mt-1 block text-xs text-muted">
              {duration(latency)}
              {first !== undefined &&
                latency - first >= 1 &&
                `, first token after ${duration(first)}`}
            </span>
          </>
        )}
      </td>
      <td class="py-2 text-right">
        {input === undefined ? "" : `${count(input)} in, ${count(output ?? 0)} out`}
      </td>
      <td class="py-2 pl-3 text-right">{cost === undefined ? "" : dollars(cost)}</td>
    </tr>
  );
}
