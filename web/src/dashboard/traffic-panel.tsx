import { useMemo } from "preact/hooks";
import type { Learning, SeriesPoint } from "../api/stats.ts";
import { categoryAxis, GRID, type Row, tooltip, valueAxis } from "../charts/axes.ts";
import { Chart, type ChartOption } from "../charts/chart.tsx";
import { colourOf } from "../charts/colours.ts";
import { percent, plural, timeLabels } from "../format.ts";
import { Legend } from "../parts/legend.tsx";
import { Panel } from "../parts/panel.tsx";
import type { Hover, OverTimeProps } from "./series.ts";

interface Share {
  readonly at: string;
  readonly requests: number;
  readonly of: Readonly<Record<string, number>>;
}

/** Whose answers were shown, over time. */
export function TrafficPanel({
  stats,
  points,
  learning,
}: OverTimeProps & { learning: Learning | undefined }) {
  const names = stats.models.map(({ model }) => model);
  const shares = sharesOver(points, learning);
  const used = names.filter((name) => shares.some(({ of }) => (of[name] ?? 0) > 0));
  const option: ChartOption = useMemo(
    () => (colours) => {
      const times = timeLabels(shares.map(({ at }) => at));
      return {
        grid: GRID,
        xAxis: categoryAxis(colours, times),
        yAxis: valueAxis(colours, percent, { max: 1, interval: 0.25 }),
        tooltip: tooltip("axis", (hover: Hover) => {
          const i = hover[0]!.dataIndex;
          const { of, requests } = shares[i]!;
          const rows = used
            .filter((name) => (of[name] ?? 0) > 0)
            .toSorted((a, b) => of[b]! - of[a]!)
            .map(
              (name): Row => ({ name, value: percent(of[name]!), colour: colourOf(names, name) }),
            );
          return { title: `${times[i]}, ${plural(requests, "request")}`, rows };
        }),
        series: used.map((name) => ({
          name,
          type: "bar",
          stack: "share",
          barCategoryGap: "12%",
          barMaxWidth: 48,
          itemStyle: { color: colourOf(names, name) },
          data: shares.map(({ of }) => of[name] ?? 0),
        })),
      };
    },
    [points, learning],
  );
  const total = stats.models.map(({ model, shown }) => `${model} ${shown}`).join(", ");
  return (
    <Panel title="Share of traffic" about="Whose answers were shown.">
      <Chart option={option} label={`Share of traffic over time. Answers shown: ${total}.`} />
      <Legend entries={used.map((name) => ({ name, colour: colourOf(names, name) }))} />
    </Panel>
  );
}

/** Counts are kept by five minutes; the first half hour is told by stretches of requests. */
function sharesOver(points: readonly SeriesPoint[], learning: Learning | undefined): Share[] {
  const busy = points.filter(({ requests }) => requests > 0);
  if (busy.length < FEW && learning && learning.stretches.length > busy.length) {
    return learning.stretches.map(({ from, requests, shares }) => ({
      at: from,
      requests,
      of: shares,
    }));
  }
  return points.map(({ at, requests, shown }) => {
    const total = Object.values(shown).reduce((sum, value) => sum + value, 0);
    const of = Object.entries(shown).map(([name, value]) => [name, value / Math.max(1, total)]);
    return { at, requests, of: Object.fromEntries(of) as Share["of"] };
  });
}

const FEW = 6;
