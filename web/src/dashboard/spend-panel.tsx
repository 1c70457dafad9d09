import { dollars } from "../text/format.ts";
import type { OverTimeProps } from "./series.ts";
import { SeriesPanel } from "./series-panel.tsx";

/** Total cost over time, compared with the cost of always using one model. */
export function SpendPanel({ stats, points }: OverTimeProps) {
  const { total, learning, always_best: best, always_cheapest: cheapest } = stats.spend;
  const sums = runningTotal(points.map(({ cost }) => cost));
  // The cost of an alternative grows with the number of requests.
  const requests = runningTotal(points.map((point) => point.requests));
  const all = requests.at(-1) || 1;
  const alternatives = [
    ...(best ? [{ ...best, colour: "strong" as const }] : []),
    ...(cheapest && cheapest.model !== best?.model
      ? [{ ...cheapest, colour: "good" as const }]
      : []),
  ].map((one) => ({ ...one, name: `always ${one.model}` }));
  const bars = [
    { name: "spent", value: total, text: dollars(total), colour: "var(--accent)" },
    ...alternatives.map(({ name, cost, colour }) => ({
      name,
      value: cost,
      text: dollars(cost),
      colour: `var(--${colour})`,
    })),
  ];
  const legend = bars.map(({ name, text, colour }) => ({ name: `${name} ${text}`, colour }));
  return (
    <SeriesPanel
      title="Spend"
      about={`US dollars since the start of the time window, compared with always using one model.${learning > 0 ? ` Serving ${dollars(total - learning)}, learning about ${dollars(learning)} (second answers of duels, answers made for a judge).` : ""}`}
      points={points}
      bars={bars}
      legend={legend}
      isLine
      format={dollars}
      describe={(i, colours) => ({
        rows: [
          { name: "spent", value: dollars(sums[i]!), colour: colours.accent },
          ...alternatives.map(({ name, cost, colour }) => ({
            name,
            value: dollars((cost * requests[i]!) / all),
            colour: colours[colour],
          })),
        ],
      })}
      series={(colours) => [
        ...alternatives.map(({ name, cost, colour }) => ({
          name,
          type: "line",
          symbol: "none",
          lineStyle: { color: colours[colour], type: "dashed", width: 1.5 },
          data: requests.map((sum) => (cost * sum) / all),
        })),
        {
          name: "spent",
          type: "line",
          symbol: "none",
          lineStyle: { color: colours.accent, width: 2.5 },
          areaStyle: { color: colours.accent, opacity: 0.12 },
          data: sums,
        },
      ]}
      label={`Spend over time: ${legend.map(({ name }) => name).join("; ")}.`}
    />
  );
}

/** The running total of the values. */
function runningTotal(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}
