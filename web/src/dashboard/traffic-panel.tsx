import type { LearningCurve, SeriesPoint } from "../../../src/client.ts";
import { colourOf } from "../charts/colours.ts";
import { TimeChart } from "../charts/time-chart.tsx";
import { Legend } from "../parts/legend.tsx";
import { Panel } from "../parts/panel.tsx";
import { percent, plural } from "../text/format.ts";
import type { OverTimeProps } from "./series.ts";

interface SharePoint {
  readonly at: string;
  readonly requests: number;
  readonly shares: Readonly<Record<string, number>>;
}

/** The share of each model in the answers given, over time. */
export function TrafficPanel({
  stats,
  points,
  learning,
}: OverTimeProps & { learning: LearningCurve | undefined }) {
  const names = stats.models.map(({ model }) => model);
  const steps = sharesOver(points, learning);
  const used = names.filter((name) => steps.some(({ shares }) => (shares[name] ?? 0) > 0));
  const total = stats.models.map(({ model, given }) => `${model} ${given}`).join(", ");
  return (
    <Panel title="Share of traffic" about="Share of the answers that each model gave.">
      <TimeChart
        data={[points, learning]}
        times={steps.map(({ at }) => at)}
        format={percent}
        axis={{ max: 1, interval: 0.25 }}
        describe={(i) => {
          const { shares, requests } = steps[i]!;
          const rows = used
            .filter((name) => (shares[name] ?? 0) > 0)
            .toSorted((a, b) => shares[b]! - shares[a]!)
            .map((name) => ({
              name,
              value: percent(shares[name]!),
              colour: colourOf(names, name),
            }));
          return { note: plural(requests, "request"), rows };
        }}
        series={() =>
          used.map((name) => ({
            name,
            type: "bar",
            stack: "share",
            barCategoryGap: "12%",
            barMaxWidth: 48,
            itemStyle: { color: colourOf(names, name) },
            data: steps.map(({ shares }) => shares[name] ?? 0),
          }))
        }
        label={`Share of traffic over time. Answers given: ${total}.`}
      />
      <Legend entries={used.map((name) => ({ name, colour: colourOf(names, name) }))} />
    </Panel>
  );
}

/**
 * The shares of the models in each step of the window. The counts have steps of five minutes, so
 * for the first half hour the finer stretches of the learning curve are used instead.
 */
function sharesOver(
  points: readonly SeriesPoint[],
  learning: LearningCurve | undefined,
): SharePoint[] {
  const busy = points.filter(({ requests }) => requests > 0);
  if (busy.length < FEW && learning && learning.stretches.length > busy.length) {
    return learning.stretches.map(({ from, requests, shares }) => ({ at: from, requests, shares }));
  }
  return points.map(({ at, requests, given }) => {
    const total = Object.values(given).reduce((sum, value) => sum + value, 0);
    const shares = Object.entries(given).map(([name, value]) => [name, value / Math.max(1, total)]);
    return { at, requests, shares: Object.fromEntries(shares) as SharePoint["shares"] };
  });
}

/** Number of steps below which the chart of the counts would be too coarse. */
const FEW = 6;
