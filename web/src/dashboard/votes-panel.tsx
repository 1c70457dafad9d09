import type { SeriesPoint } from "../../../src/client.ts";
import { TimeChart } from "../charts/time-chart.tsx";
import { Bars } from "../parts/bars.tsx";
import { Legend } from "../parts/legend.tsx";
import { Panel } from "../parts/panel.tsx";
import { count, percent, plural } from "../text/format.ts";
import { isShort, type OverTimeProps } from "./series.ts";

const PARTS = [
  { name: "requests", of: ({ requests }: SeriesPoint) => requests, colour: "line" },
  { name: "duels", of: ({ duels }: SeriesPoint) => duels, colour: "strong" },
  { name: "votes", of: ({ votes }: SeriesPoint) => votes, colour: "accent" },
] as const;

/** The number of requests, duels and votes over time. */
export function VotesPanel({ stats: { counts }, points }: OverTimeProps) {
  const summary = `${plural(counts.requests, "request")}, ${plural(counts.duels, "duel")} (${percent(counts.duel_rate)}), ${plural(counts.votes, "vote")}`;
  const about = `${summary}: ${plural(counts.ties, "tie")}, ${count(counts.both_bad)} both bad.`;
  if (isShort(points)) {
    const bars = PARTS.map(({ name, colour }) => ({
      name,
      value: counts[name],
      text: count(counts[name]),
      colour: `var(--${colour === "line" ? "strong" : colour})`,
    }));
    return (
      <Panel title="Requests, duels and votes" about={about}>
        <Bars bars={bars} label="Requests, duels and votes" />
      </Panel>
    );
  }
  return (
    <Panel title="Requests, duels and votes" about={about}>
      <TimeChart
        data={[points]}
        times={points.map(({ at }) => at)}
        format={count}
        axis={{ minInterval: 1 }}
        describe={(i, colours) => ({
          rows: PARTS.map(({ name, of, colour }) => ({
            name,
            value: count(of(points[i]!)),
            colour: colours[colour],
          })),
        })}
        series={(colours) =>
          PARTS.map(({ name, of, colour }) => ({
            name,
            type: "bar",
            barGap: "0%",
            barMaxWidth: 24,
            itemStyle: { color: colours[colour], borderRadius: [2, 2, 0, 0] },
            data: points.map(of),
          }))
        }
        label={`Requests, duels and votes over time: ${summary}.`}
      />
      <Legend entries={PARTS.map(({ name, colour }) => ({ name, colour: `var(--${colour})` }))} />
    </Panel>
  );
}
