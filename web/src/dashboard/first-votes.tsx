import { useMemo } from "preact/hooks";
import type { Stage, Voters } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { GRID, tooltip, valueAxis } from "../charts/axes.ts";
import { Chart, type ChartOption } from "../charts/chart.tsx";
import { Button } from "../parts/button.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { useAction } from "../parts/form.tsx";
import { Next, Stop } from "../parts/icons.tsx";
import { Legend } from "../parts/legend.tsx";
import { Panel } from "../parts/panel.tsx";
import { count, dollars, percent } from "../text/format.ts";
import type { Live } from "./live.ts";
import { beforeAndNow, comparison, joined, type StageMean } from "./stages.ts";

/** Number of votes that the demonstration casts, in about a minute. */
const VOTES = 1000;

/** Lets simulated people cast a thousand votes and shows what routing is worth before and after. Only in the sandbox. */
export function FirstVotes({ voters }: { voters: Live<Voters> }) {
  const { run, problem } = useAction();
  const state = voters.data;
  const shown = useMemo(() => joined(state?.stages ?? []), [state?.stages]);
  if (!state) return null;
  const set = (change: Parameters<typeof joust.setVoters>[0]) =>
    run(() => joust.setVoters(change).then(voters.refresh));
  const { on, cast, stop_at: end, stages, best_model: best } = state;
  const found = beforeAndNow(stages);
  return (
    <Panel
      title={`Watch ${count(VOTES)} votes in a minute`}
      about="Simulated people send questions of seven categories and vote on the answers. The sandbox knows which answers are right, so routing can be compared with the best single model on the same questions."
      actions={
        on ? (
          <Button onClick={() => set({ on: false })}>
            <Stop /> Stop
          </Button>
        ) : (
          <Button
            variant="primary"
            onClick={() => set({ on: true, votes_per_minute: VOTES, stop_after: VOTES })}
          >
            {cast === 0 ? `Cast ${count(VOTES)} votes` : `Cast ${count(VOTES)} more votes`} <Next />
          </Button>
        )
      }
    >
      {problem !== undefined && <p class="text-sm text-bad">{problem}</p>}
      {on && end !== null && (
        <label class="flex flex-col gap-1 text-sm text-muted tabular-nums">
          {count(VOTES - (end - cast))} of {count(VOTES)} votes
          <progress class="h-2 w-full accent-accent" max={VOTES} value={VOTES - (end - cast)} />
        </label>
      )}
      {found && best !== null && (
        <>
          {found.now && (
            <p class="text-lg">
              Simulated: compared with always using {best}, routing now{" "}
              <strong class="font-semibold">{comparison(found.now)}</strong>.
            </p>
          )}
          <div class="grid items-start gap-6 lg:grid-cols-[minmax(0,24rem)_1fr_1fr]">
            <Results {...found} best={best} cast={cast} />
            <StageChart
              stages={shown}
              cast={cast}
              title="Right answers"
              best={best}
              of={({ quality }) => quality}
              ofBest={({ best_quality }) => best_quality}
              format={percent}
            />
            <StageChart
              stages={shown}
              cast={cast}
              title="Cost of 1,000 requests"
              best={best}
              of={({ cost }) => 1000 * cost}
              ofBest={({ best_cost }) => 1000 * best_cost}
              format={dollars}
            />
          </div>
        </>
      )}
    </Panel>
  );
}

const COLUMNS = [
  { name: "Simulated" },
  { name: "Right answers", isNumber: true },
  { name: "1,000 requests cost", isNumber: true },
] as const;

function Results({
  before,
  now,
  best,
  cast,
}: {
  before: StageMean;
  now: StageMean | undefined;
  best: string;
  cast: number;
}) {
  const rows = [
    { name: "Routing, first votes", quality: before.quality, cost: before.cost },
    ...(now
      ? [
          { name: `Routing, ${count(cast)} votes`, quality: now.quality, cost: now.cost },
          { name: `Always ${best}`, quality: now.best_quality, cost: now.best_cost },
        ]
      : [{ name: `Always ${best}`, quality: before.best_quality, cost: before.best_cost }]),
  ];
  return (
    <DataTable label="Before and after" columns={COLUMNS} isSmall>
      {rows.map(({ name, quality, cost }) => (
        <tr key={name} class="border-t border-line tabular-nums">
          <th scope="row" class="py-2 pr-3 text-left font-normal">
            {name}
          </th>
          <td class="text-right">{percent(quality)}</td>
          <td class="text-right">{dollars(1000 * cost)}</td>
        </tr>
      ))}
    </DataTable>
  );
}

/** One number of routing over the votes cast, and the same number of the best single model. */
function StageChart({
  stages,
  cast,
  title,
  best,
  of,
  ofBest,
  format,
}: {
  stages: readonly Stage[];
  cast: number;
  title: string;
  best: string;
  of: (stage: Stage) => number;
  ofBest: (stage: Stage) => number;
  format: (value: number) => string;
}) {
  const option: ChartOption = useMemo(
    () => (colours) => ({
      grid: GRID,
      xAxis: valueAxis(colours, count, {
        min: 0,
        max: Math.max(cast, 1),
        splitLine: { show: false },
        axisLine: { show: true, lineStyle: { color: colours.line } },
        axisLabel: {
          color: colours.muted,
          fontSize: 12,
          formatter: count,
          hideOverlap: true,
          showMaxLabel: true,
          alignMaxLabel: "right",
        },
      }),
      yAxis: valueAxis(colours, format, { min: 0 }),
      tooltip: tooltip("axis", (hover: readonly { readonly dataIndex: number }[]) => {
        const stage = stages[hover[0]!.dataIndex]!;
        return {
          title: `After ${count(stage.votes)} votes, simulated`,
          rows: [
            { name: "Routing", value: format(of(stage)), colour: colours.accent },
            { name: `Always ${best}`, value: format(ofBest(stage)), colour: colours.strong },
          ],
        };
      }),
      series: [
        line(
          stages.map((stage) => [stage.votes, ofBest(stage)]),
          colours.strong,
          "dashed",
        ),
        line(
          stages.map((stage) => [stage.votes, of(stage)]),
          colours.accent,
          "solid",
        ),
      ],
    }),
    [stages, cast],
  );
  const [first, last] = [stages[0]!, stages.at(-1)!];
  return (
    <div class="flex min-w-0 flex-col gap-1">
      <h3 class="text-sm">
        {title} <span class="text-muted">by votes cast, simulated</span>
      </h3>
      <Chart
        option={option}
        height={200}
        label={`${title} by votes cast, simulated: ${format(of(first))} at first, ${format(of(last))} now; always ${best} ${format(ofBest(last))}.`}
      />
      <Legend
        entries={[
          { name: "routing", colour: "var(--accent)" },
          { name: `always ${best}`, colour: "var(--strong)" },
        ]}
      />
    </div>
  );
}

function line(data: readonly (readonly number[])[], color: string, type: "solid" | "dashed") {
  const isSolid = type === "solid";
  return {
    type: "line",
    symbol: data.length < 3 ? "circle" : "none",
    itemStyle: { color },
    lineStyle: { color, type, width: isSolid ? 2.5 : 1.5 },
    data,
  };
}
