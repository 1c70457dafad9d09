import { useMemo } from "preact/hooks";
import type { SeriesPoint, Stats } from "../api/stats.ts";
import { categoryAxis, GRID, type Row, tooltip, valueAxis } from "../charts/axes.ts";
import { Chart, type ChartOption } from "../charts/chart.tsx";
import { colourOf } from "../charts/colours.ts";
import { running } from "../charts/running.ts";
import { count, dollars, percent, plural } from "../format.ts";
import { Legend } from "../parts/legend.tsx";
import { Panel } from "../parts/panel.tsx";

/** Counts of the window in steps, those without requests included. */
function filledSeries({ window, series, at }: Stats): SeriesPoint[] {
  const step = window.step_seconds * 1000;
  const known = new Map(series.map((point) => [Date.parse(point.at), point]));
  // Nothing before the first request is worth a picture.
  const first = Math.min(...known.keys(), Date.parse(at));
  const from = Math.max(Date.parse(window.from), first - 2 * step);
  const points: SeriesPoint[] = [];
  for (let time = Math.floor(from / step) * step; time <= Date.parse(at); time += step) {
    points.push(known.get(time) ?? { ...NOTHING, at: new Date(time).toISOString() });
  }
  return points;
}

const NOTHING = { requests: 0, duels: 0, votes: 0, cost: 0, shown: {} };

export function OverTime({ stats }: { stats: Stats }) {
  const points = useMemo(() => filledSeries(stats), [stats]);
  return (
    <div class="grid gap-4 lg:grid-cols-3">
      <Traffic stats={stats} points={points} />
      <Spend stats={stats} points={points} />
      <Votes stats={stats} points={points} />
    </div>
  );
}

interface Parts {
  readonly stats: Stats;
  readonly points: readonly SeriesPoint[];
}

/** What the chart library tells of the place under the pointer. */
type Hover = { readonly dataIndex: number }[];

function Traffic({ stats, points }: Parts) {
  const names = stats.models.map(({ model }) => model);
  const used = names.filter((name) => points.some(({ shown }) => (shown[name] ?? 0) > 0));
  const option: ChartOption = useMemo(
    () => (colours) => ({
      grid: GRID,
      xAxis: categoryAxis(colours, points.map(timeOf)),
      yAxis: valueAxis(colours, percent, { max: 1, interval: 0.25 }),
      tooltip: tooltip("axis", (hover: Hover) => {
        const point = points[hover[0]!.dataIndex]!;
        const rows = used
          .map((name) => ({ name, share: shareOf(point, name) }))
          .filter(({ share }) => share > 0)
          .sort((a, b) => b.share - a.share)
          .map(
            ({ name, share }): Row => ({
              name,
              value: percent(share),
              colour: colourOf(names, name),
            }),
          );
        return { title: `${timeOf(point)}, ${plural(point.requests, "request")}`, rows };
      }),
      series: used.map((name) => ({
        name,
        type: "bar",
        stack: "share",
        barCategoryGap: "15%",
        barMaxWidth: 48,
        itemStyle: { color: colourOf(names, name) },
        data: points.map((point) => shareOf(point, name)),
      })),
    }),
    [points],
  );
  const total = stats.models.map(({ model, shown }) => `${model} ${shown}`).join(", ");
  return (
    <Panel title="Share of traffic" about="Whose answers were shown.">
      <Chart option={option} label={`Share of traffic over time. Answers shown: ${total}.`} />
      <Legend entries={used.map((name) => ({ name, colour: colourOf(names, name) }))} />
    </Panel>
  );
}

function Spend({ stats, points }: Parts) {
  const { spend } = stats;
  const sums = running(points.map(({ cost }) => cost));
  const total = sums.at(-1) ?? 0;
  // What one model for all would have cost, spread as the spend was spread over requests.
  const requests = running(points.map((point) => point.requests));
  const all = requests.at(-1) ?? 0;
  const alternatives = [
    { key: "best", name: `always ${spend.always_best?.model}`, cost: spend.always_best?.cost },
    {
      key: "cheapest",
      name: `always ${spend.always_cheapest?.model}`,
      cost: spend.always_cheapest?.cost,
    },
  ].filter((one) => one.cost !== undefined);
  const option: ChartOption = useMemo(
    () => (colours) => {
      const dashes = [colours.strong, colours.good];
      return {
        grid: GRID,
        xAxis: categoryAxis(colours, points.map(timeOf), { boundaryGap: false }),
        yAxis: valueAxis(colours, dollars),
        tooltip: tooltip("axis", (hover: Hover) => {
          const i = hover[0]!.dataIndex;
          const rows: Row[] = [
            { name: "spent", value: dollars(sums[i]!), colour: colours.accent },
            ...alternatives.map(({ name, cost }, j) => ({
              name,
              value: dollars(all > 0 ? (cost! * requests[i]!) / all : 0),
              colour: dashes[j],
            })),
          ];
          return { title: timeOf(points[i]!), rows };
        }),
        series: [
          ...alternatives.map(({ name, cost }, j) => ({
            name,
            type: "line",
            symbol: "none",
            lineStyle: { color: dashes[j], type: "dashed", width: 1.5 },
            data: requests.map((sum) => (all > 0 ? (cost! * sum) / all : 0)),
          })),
          {
            name: "spent",
            type: "line",
            symbol: "none",
            lineStyle: { color: colours.accent, width: 2.5 },
            areaStyle: { color: colours.accent, opacity: 0.12 },
            data: sums,
          },
        ],
      };
    },
    [points],
  );
  const compared = alternatives.map(({ name, cost }) => `${name} ${dollars(cost!)}`).join(", ");
  return (
    <Panel
      title="Spend"
      about="Since the beginning of the window, and what one model for all would have cost."
    >
      <Chart option={option} label={`Spend over time: ${dollars(total)} in all; ${compared}.`} />
      <Legend
        entries={[
          { name: `spent ${dollars(total)}`, colour: "var(--accent)" },
          ...alternatives.map(({ key, name, cost }) => ({
            name: `${name} ${dollars(cost!)}`,
            colour: key === "best" ? "var(--strong)" : "var(--good)",
          })),
        ]}
      />
    </Panel>
  );
}

function Votes({ stats, points }: Parts) {
  const { counts } = stats;
  const option: ChartOption = useMemo(
    () => (colours) => {
      const parts = [
        { name: "requests", of: (p: SeriesPoint) => p.requests, colour: colours.line },
        { name: "duels", of: (p: SeriesPoint) => p.duels, colour: colours.strong },
        { name: "votes", of: (p: SeriesPoint) => p.votes, colour: colours.accent },
      ];
      return {
        grid: GRID,
        xAxis: categoryAxis(colours, points.map(timeOf)),
        yAxis: valueAxis(colours, count, { minInterval: 1 }),
        tooltip: tooltip("axis", (hover: Hover) => {
          const point = points[hover[0]!.dataIndex]!;
          const rows = parts.map(({ name, of, colour }) => ({
            name,
            value: count(of(point)),
            colour,
          }));
          return { title: timeOf(point), rows };
        }),
        series: parts.map(({ name, of, colour }) => ({
          name,
          type: "bar",
          barGap: "0%",
          barMaxWidth: 20,
          itemStyle: { color: colour },
          data: points.map(of),
        })),
      };
    },
    [points],
  );
  const said = `${plural(counts.requests, "request")}, ${plural(counts.duels, "duel")} (${percent(counts.duel_rate)}), ${plural(counts.votes, "vote")}`;
  return (
    <Panel
      title="Votes and duels"
      about={`${said}: ${count(counts.ties)} ties, ${count(counts.both_bad)} both bad.`}
    >
      <Chart option={option} label={`Requests, duels and votes over time: ${said}.`} />
      <Legend
        entries={[
          { name: "requests", colour: "var(--line)" },
          { name: "duels", colour: "var(--strong)" },
          { name: "votes", colour: "var(--accent)" },
        ]}
      />
    </Panel>
  );
}

function shareOf({ shown }: SeriesPoint, name: string): number {
  const total = Object.values(shown).reduce((sum, value) => sum + value, 0);
  return total === 0 ? 0 : (shown[name] ?? 0) / total;
}

function timeOf({ at }: { at: string }): string {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday
    ? time.toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hour12: false })
    : time.toLocaleDateString("en", { day: "numeric", month: "short" });
}
