import { useMemo } from "preact/hooks";
import type { SeriesPoint } from "../api/stats.ts";
import { categoryAxis, GRID, tooltip, valueAxis } from "../charts/axes.ts";
import { Chart, type ChartOption } from "../charts/chart.tsx";
import { Legend } from "../parts/legend.tsx";
import { Panel } from "../parts/panel.tsx";
import { count, percent, plural, timeLabels } from "../text/format.ts";
import type { Hover, OverTimeProps } from "./series.ts";

const PARTS = [
  { name: "requests", of: ({ requests }: SeriesPoint) => requests, colour: "line" },
  { name: "duels", of: ({ duels }: SeriesPoint) => duels, colour: "strong" },
  { name: "votes", of: ({ votes }: SeriesPoint) => votes, colour: "accent" },
] as const;

export function VotesPanel({ stats: { counts }, points }: OverTimeProps) {
  const option: ChartOption = useMemo(
    () => (colours) => {
      const times = timeLabels(points.map(({ at }) => at));
      return {
        grid: GRID,
        xAxis: categoryAxis(colours, times),
        yAxis: valueAxis(colours, count, { minInterval: 1 }),
        tooltip: tooltip("axis", (hover: Hover) => {
          const i = hover[0]!.dataIndex;
          const rows = PARTS.map(({ name, of, colour }) => ({
            name,
            value: count(of(points[i]!)),
            colour: colours[colour],
          }));
          return { title: times[i]!, rows };
        }),
        series: PARTS.map(({ name, of, colour }) => ({
          name,
          type: "bar",
          barGap: "0%",
          barMaxWidth: 24,
          itemStyle: { color: colours[colour], borderRadius: [2, 2, 0, 0] },
          data: points.map(of),
        })),
      };
    },
    [points],
  );
  const summary = `${plural(counts.requests, "request")}, ${plural(counts.duels, "duel")} (${percent(counts.duel_rate)}), ${plural(counts.votes, "vote")}`;
  return (
    <Panel
      title="Requests, duels and votes"
      about={`${summary}: ${plural(counts.ties, "tie")}, ${count(counts.both_bad)} both bad.`}
    >
      <Chart option={option} label={`Requests, duels and votes over time: ${summary}.`} />
      <Legend entries={PARTS.map(({ name, colour }) => ({ name, colour: `var(--${colour})` }))} />
    </Panel>
  );
}
