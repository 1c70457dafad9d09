import type { ListedModel, ModelCounts, Stats } from "../../../src/client.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Panel } from "../parts/panel.tsx";
import { count, dollars, duration, percent, prices } from "../text/format.ts";

const STATES = {
  ok: { text: "ok", colour: "bg-good" },
  degraded: { text: "some calls fail", colour: "bg-warn" },
  down: { text: "down", colour: "bg-bad" },
  unknown: { text: "no recent calls", colour: "bg-strong" },
} as const;

const COLUMNS: readonly Column[] = [
  { name: "Model" },
  { name: "State", hint: "By the calls of the last 30 minutes" },
  {
    name: "Price, $ per million tokens",
    hint: "US dollars per million tokens, input and output",
    isNumber: true,
  },
  { name: "Share", hint: "Share of the answers given", isNumber: true },
  { name: "Calls", hint: "Answers and failures", isNumber: true },
  { name: "Errors", hint: "Share of the calls that failed", isNumber: true },
  { name: "Mean time", hint: "From the call to the end of the answer", isNumber: true },
  {
    name: "p95 time",
    hint: "Time in which 95 of 100 answers were complete, on this node since its start",
    isNumber: true,
  },
  { name: "Tokens", hint: "Input and output tokens of all answers", isNumber: true },
  { name: "Wins", hint: "Votes for the model, of the votes on its answers", isNumber: true },
  { name: "Cost", hint: "US dollars in this time window", isNumber: true },
];

/** State, price, traffic and results of each model. */
export function HealthPanel({ stats, listed }: { stats: Stats; listed: readonly ListedModel[] }) {
  return (
    <Panel
      title="Models"
      about="Health of the last 30 minutes. Share of the answers given, calls, tokens, votes and cost in this time window."
    >
      <DataTable label="Models" columns={COLUMNS} class="min-w-216">
        {stats.models.map((model) => (
          <Row
            key={model.model}
            {...model}
            price={listed.find(({ id }) => id === model.model)?.price}
          />
        ))}
      </DataTable>
    </Panel>
  );
}

function Row({
  model,
  health,
  breaker,
  price,
  share,
  calls,
  failures,
  mean_latency_ms: mean,
  p95_latency_ms: p95,
  input_tokens: input,
  output_tokens: output,
  votes,
  wins,
  cost,
}: ModelCounts & { price: ListedModel["price"] }) {
  const { text, colour } = STATES[health];
  return (
    <tr class="border-t border-line tabular-nums">
      <th scope="row" class="max-w-40 truncate py-2 pr-3 text-left font-normal" title={model}>
        {model}
      </th>
      <td class="pr-3">
        <span class="flex items-center gap-2 whitespace-nowrap">
          <span class={`size-2 rounded-full ${colour}`} aria-hidden="true" />
          {breaker === null ? "not served" : breaker === "open" ? "paused after failures" : text}
        </span>
      </td>
      <td class="text-right whitespace-nowrap">{price ? prices(price) : "unknown"}</td>
      <td class="pl-3 text-right">{share === null ? "" : percent(share)}</td>
      <td class="pl-3 text-right">{count(calls)}</td>
      <td class={`pl-3 text-right ${failures > 0 ? "text-bad" : "text-muted"}`}>
        {calls === 0 ? "" : percent(failures / calls)}
      </td>
      <td class="pl-3 text-right whitespace-nowrap">{mean === null ? "" : duration(mean)}</td>
      <td class="pl-3 text-right whitespace-nowrap">{p95 === null ? "" : duration(p95)}</td>
      <td class="pl-3 text-right whitespace-nowrap">
        {input + output === 0 ? "" : count(input + output)}
      </td>
      <td class="pl-3 text-right whitespace-nowrap">
        {votes === 0 ? "" : `${count(wins)} of ${count(votes)}`}
      </td>
      <td class="pl-3 text-right">{cost === 0 ? "" : dollars(cost)}</td>
    </tr>
  );
}
