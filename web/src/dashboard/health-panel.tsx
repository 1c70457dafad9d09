import type { ModelCounts, Stats } from "../../../src/client.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Panel } from "../parts/panel.tsx";
import { count, dollars, duration, percent } from "../text/format.ts";

const STATES = {
  ok: { text: "ok", colour: "bg-good" },
  degraded: { text: "some calls fail", colour: "bg-warn" },
  down: { text: "down", colour: "bg-bad" },
  unknown: { text: "no recent calls", colour: "bg-strong" },
} as const;

const COLUMNS: readonly Column[] = [
  { name: "Model" },
  { name: "State" },
  ...["Share", "Calls", "Failed", "Mean time", "Wins", "Cost"].map((name) => ({
    name,
    isNumber: true,
  })),
];

/** State, traffic and results of each model. */
export function HealthPanel({ stats }: { stats: Stats }) {
  return (
    <Panel
      title="Models"
      about="Health of the last 30 minutes. Share of the answers given, calls, votes and cost in this time window."
    >
      <DataTable label="Models" columns={COLUMNS} class="min-w-2xl">
        {stats.models.map((model) => (
          <Row key={model.model} {...model} />
        ))}
      </DataTable>
    </Panel>
  );
}

function Row({
  model,
  health,
  breaker,
  share,
  calls,
  failures,
  mean_latency_ms: latency,
  votes,
  wins,
  cost,
}: ModelCounts) {
  const { text, colour } = STATES[health];
  return (
    <tr class="border-t border-line tabular-nums">
      <th scope="row" class="max-w-40 truncate py-2 pr-3 text-left font-normal" title={model}>
        {model}
      </th>
      <td class="pr-3">
        <span class="flex items-center gap-2">
          <span class={`size-2 rounded-full ${colour}`} aria-hidden="true" />
          {breaker === null ? "not served" : breaker === "open" ? "paused after failures" : text}
        </span>
      </td>
      <td class="text-right">{share === null ? "" : percent(share)}</td>
      <td class="text-right">{count(calls)}</td>
      <td class={`text-right ${failures > 0 ? "text-bad" : "text-muted"}`}>
        {calls === 0 ? "" : percent(failures / calls)}
      </td>
      <td class="text-right">{latency === null ? "" : duration(latency)}</td>
      <td class="text-right">{votes === 0 ? "" : `${count(wins)} of ${count(votes)}`}</td>
      <td class="text-right">{cost === 0 ? "" : dollars(cost)}</td>
    </tr>
  );
}
