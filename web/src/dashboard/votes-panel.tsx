import type { SeriesPoint } from "../../../src/client.ts";
import { count, percent, plural } from "../text/format.ts";
import type { OverTimeProps } from "./series.ts";
import { SeriesPanel } from "./series-panel.tsx";

const PARTS = [
  { name: "requests", of: ({ requests }: SeriesPoint) => requests, colour: "line" },
  { name: "duels", of: ({ duels }: SeriesPoint) => duels, colour: "strong" },
  { name: "votes", of: ({ votes }: SeriesPoint) => votes, colour: "accent" },
] as const;

/** The number of requests, duels and votes over time. */
export function VotesPanel({ stats: { counts }, points }: OverTimeProps) {
  const summary = `${plural(counts.requests, "request")}, ${plural(counts.duels, "duel")} (${percent(counts.duel_rate)}), ${plural(counts.votes, "vote")}`;
  const about = `${summary}: ${plural(counts.ties, "tie")}, ${count(counts.both_bad)} both bad.`;
  return (
    <SeriesPanel
      title="Requests, duels and votes"
      about={about}
      points={points}
      bars={PARTS.map(({ name, colour }) => ({
        name,
        value: counts[name],
        text: count(counts[name]),
        colour: `var(--${colour === "line" ? "strong" : colour})`,
      }))}
      legend={PARTS.map(({ name, colour }) => ({ name, colour: `var(--${colour})` }))}
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
  );
}
