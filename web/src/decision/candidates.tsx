import type { Decision, Score } from "../../../src/client.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { IntervalDot } from "../parts/interval-dot.tsx";
import { Panel } from "../parts/panel.tsx";
import { count, dollars } from "../text/format.ts";
import { netWins, winsOf } from "../text/wins.ts";

/** The models that could have answered: estimated quality, expected price, and quality minus price. */
export function Candidates({ decision }: { decision: Decision }) {
  const { scores = [], chosen = [], excluded = {}, omitted = 0 } = decision;
  const sorted = scores.toSorted((a, b) => (b.net ?? b.value ?? 0) - (a.net ?? a.value ?? 0));
  const ends = scores.flatMap(({ value = 0, uncertainty = 0, net = value }) => [
    value - uncertainty,
    value + uncertainty,
    net,
  ]);
  // With a trade-off of 10 the price outweighs the quality. The limit keeps the quality readable.
  const min = Math.max(-1.5, Math.min(-0.01, ...ends));
  const max = Math.max(0.01, ...ends);
  const at = (value: number) =>
    `${Math.min(100, Math.max(0, (100 * (value - min)) / (max - min)))}%`;
  return (
    <Panel
      title="Candidates"
      about="Dot: of 100 comparisons with the pool's average answer, how many the model would win on this prompt, with one standard deviation; the line in the middle is 50. Tick: the same after the price is taken off, which is what the router compares."
    >
      <DataTable label="Candidates" columns={COLUMNS}>
        {sorted.map((score) => (
          <Row key={score.model} score={score} isChosen={chosen.includes(score.model)} at={at} />
        ))}
      </DataTable>
      {omitted > 0 && (
        <p class="text-sm text-muted">
          {count(omitted)} more candidates had a lower net value. The log of a large pool keeps the
          best ones.
        </p>
      )}
      {Object.keys(excluded).length > 0 && (
        <p class="text-sm text-muted">
          Excluded:{" "}
          {Object.entries(excluded)
            .map(([model, reason]) => `${model} ${reason}`)
            .join("; ")}
          .
        </p>
      )}
    </Panel>
  );
}

const COLUMNS: readonly Column[] = [
  { name: "Model" },
  { name: "Chart", isHidden: true },
  {
    name: "Wins of 100",
    isNumber: true,
    hint: "Estimate for this prompt, with one standard deviation; 50 is the pool's average",
  },
  {
    name: "Expected price",
    isNumber: true,
    hint: "US dollars, for the tokens of the prompt and of an answer of usual length",
  },
  {
    name: "After price",
    isNumber: true,
    hint: "Wins of 100, less what the price is worth at the present trade-off; below 0 if the price outweighs the quality",
  },
];

function Row({
  score,
  isChosen,
  at,
}: {
  score: Score;
  isChosen: boolean;
  at: (value: number) => string;
}) {
  const { model, value, uncertainty, cost, cost_basis: basis, net } = score;
  return (
    <tr class="tabular-nums">
      <th
        scope="row"
        title={model}
        class={`max-w-44 truncate py-1.5 pr-3 text-left ${isChosen ? "font-semibold text-accent" : "font-normal"}`}
      >
        {model}
        {isChosen && <span class="sr-only"> (chosen)</span>}
      </th>
      <td class="w-full min-w-32">
        <IntervalDot
          at={at}
          value={value}
          band={
            value === undefined || uncertainty === undefined
              ? undefined
              : [value - uncertainty, value + uncertainty]
          }
          colour={isChosen ? "var(--accent)" : "var(--strong)"}
        >
          {net !== undefined && (
            <div
              class="absolute top-1/2 h-4 w-0.5 -translate-1/2 bg-ink"
              style={{ left: at(net) }}
            />
          )}
        </IntervalDot>
      </td>
      <td class="pl-4 text-right whitespace-nowrap">
        {value === undefined ? "" : winsOf(value)}
        {uncertainty !== undefined && (
          <span class="text-muted"> ±{Math.max(1, Math.round(50 * uncertainty))}</span>
        )}
      </td>
      <td class="pl-4 text-right">
        {cost === undefined ? "" : dollars(cost)}
        {basis && (
          <span class="block text-xs whitespace-nowrap text-muted">
            {count(basis.prompt_tokens)} tokens in
            {basis.cached_tokens > 0 && ` (${count(basis.cached_tokens)} cached)`},{" "}
            {count(basis.output_tokens)} out
          </span>
        )}
      </td>
      <td class="pl-4 text-right">{net === undefined ? "" : netWins(net)}</td>
    </tr>
  );
}
