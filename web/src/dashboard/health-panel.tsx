import type { ModelCounts, Stats } from "../../../src/client.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Panel } from "../parts/panel.tsx";
import { count, dollars, duration, percent } from "../text/format.ts";

const STATES = {
  closed: { text: "available", colour: "bg-good" },
  "half-open": { text: "being retried", colour: "bg-warn" },
  open: { text: "paused after failures", colour: "bg-bad" },
  gone: { text: "not served", colour: "bg-strong" },
} as const;

const COLUMNS: readonly Column[] = [
  { name: "Model" },
  { name: "State" },
  ...["Shown", "Answers", "Failed", "Mean time", "Wins", "Cost"].map((name) => ({
    name,
    isNumber: true,
  })),
];

/** State, traffic and results of each model. */
export function HealthPanel({ stats }: { stats: Stats }) {
  const all = stats.models.reduce((sum, { shown }) => sum + shown, 0);
  return (
    <Panel title="Models" about="Activity in this time window.">
      <DataTable label="Models" columns={COLUMNS} class="min-w-2xl">
        {stats.models.map((model) => (
          <Row key={model.model} {...model} all={all} />
        ))}
      </DataTable>
    </Panel>
  );
}

function Row({
  model,
  breaker,
  shown,
  all,
  answers,
  failures,
  mean_latency_ms: latency,
  votes,
  wins,
  cost,
}: ModelCounts & { all: number }) {
  const { text, colour } = STATES[breaker ?? "gone"];
  return (
    <tr class="border-t border-line tabular-nums">
      <th scope="row" class="max-w-40 truncate py-2 pr-3 text-left font-normal" title={model}>
        {model}
      </th>
      <td class="pr-3">
        <span class="flex items-center gap-2">
          <span class={`size-2 rounded-full ${colour}`} aria-hidden="true" />
          {text}
        </span>
      </td>
      <td class="text-right">{all === 0 ? "" : percent(shown / all)}</td>
      <td class="text-right">{count(answers)}</td>
      <td class={`text-right ${failures > 0 ? "text-bad" : "text-muted"}`}>
        {answers === 0 ? "" : percent(failures / answers)}
      </td>
      <td class="text-right">{latency === null ? "" : duration(latency)}</td>
      <td class="text-right">{votes === 0 ? "" : `${count(wins)} of ${count(votes)}`}</td>
      <td class="text-right">{cost === 0 ? "" : dollars(cost)}</td>
    </tr>
  );
}
