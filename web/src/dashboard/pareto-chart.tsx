import { useMemo } from "preact/hooks";
import type { Tradeoff, TradeoffPoint } from "../../../src/client.ts";
import { GRID, tooltip, valueAxis } from "../charts/axes.ts";
import { Chart, type ChartOption } from "../charts/chart.tsx";
import { colourOf } from "../charts/colours.ts";
import { dollars } from "../text/format.ts";
import { hundred } from "../text/wins.ts";

/** A setting or a model with its cost per 1,000 requests and its wins of 100. */
interface Place {
  readonly name: string;
  readonly cost: number;
  readonly wins: number;
  readonly lo: number;
  readonly hi: number;
}

/** Cost and quality of all settings of the trade-off, and those of each model alone. */
export function ParetoChart({
  tradeoff,
  now,
  then,
  models,
}: {
  tradeoff: Tradeoff;
  now: TradeoffPoint;
  then: TradeoffPoint;
  models: readonly string[];
}) {
  const curve = tradeoff.points.flatMap((point) => placeOf(`setting ${point.tradeoff}`, point));
  const singles = tradeoff.singles.flatMap((single) => placeOf(single.model, single));
  const marked = (point: TradeoffPoint) =>
    curve.find(({ name }) => name === `setting ${point.tradeoff}`);
  const [current, chosen] = [marked(now), marked(then)];
  const isLog = isLogarithmic([...curve, ...singles]);
  const option: ChartOption = useMemo(
    () => (colours) => ({
      grid: { ...GRID, right: 40, bottom: 20 },
      xAxis: valueAxis(colours, dollars, {
        name: "cost of 1,000 requests",
        nameLocation: "middle",
        nameGap: 26,
        nameTextStyle: { color: colours.muted },
        scale: true,
        // Prices differ by factors: the cheap models would all be at the left edge.
        ...(isLog && { type: "log" }),
      }),
      yAxis: valueAxis(colours, (value) => String(Math.round(value)), {
        scale: true,
        // Names of models at the lowest and highest points have room.
        boundaryGap: ["15%", "15%"],
      }),
      tooltip: tooltip("item", ({ data }: { data: { place: Place } }) => ({
        title: data.place.name,
        rows: [
          { name: "cost of 1,000 requests", value: dollars(data.place.cost) },
          {
            name: "wins of 100",
            value: `${Math.round(data.place.wins)} (${Math.round(data.place.lo)} to ${Math.round(data.place.hi)})`,
          },
        ],
      })),
      series: [
        {
          type: "line",
          symbolSize: 5,
          itemStyle: { color: colours.accent },
          lineStyle: { color: colours.accent, width: 2 },
          data: curve.toSorted((a, b) => a.cost - b.cost).map(dot),
        },
        {
          type: "scatter",
          symbolSize: 10,
          label: {
            show: true,
            position: "right",
            color: colours.ink,
            fontSize: 12,
            formatter: ({ data }: { data: { place: Place } }) => data.place.name,
          },
          labelLayout: { moveOverlap: "shiftY" },
          data: singles.map((place) => ({
            ...dot(place),
            itemStyle: { color: colourOf(models, place.name) },
            label: sideOf(place, singles, isLog),
          })),
        },
        ...(current ? [mark(current, "now", colours.ink, colours.surface)] : []),
        ...(chosen && chosen !== current
          ? [mark(chosen, "chosen", colours.accent, colours.surface)]
          : []),
      ],
    }),
    [tradeoff, now, then, models],
  );
  if (curve.length === 0) return null;
  const at = current ? `now ${Math.round(current.wins)} wins at ${dollars(current.cost)}` : "";
  const alone = singles.map(
    ({ name, wins, cost }) => `${name} ${Math.round(wins)} at ${dollars(cost)}`,
  );
  return (
    <div class="flex flex-col gap-1">
      <h3 class="text-sm">
        Quality by cost{" "}
        <span class="text-muted">
          wins of 100 against the pool's average; the line has all settings, a dot is one model for
          everything
        </span>
      </h3>
      <Chart
        option={option}
        height={260}
        series={SETTINGS_AND_MODELS}
        label={`Quality by cost of 1,000 requests: ${[at, ...alone].filter((part) => part !== "").join("; ")}.`}
      />
    </div>
  );
}

/** The side of a dot on which its name is free of other dots and of the edge of the chart. */
function sideOf({ name, cost, wins }: Place, all: readonly Place[], isLog: boolean): object {
  const at = isLog ? Math.log : (value: number) => value;
  const costs = all.map((one) => at(one.cost));
  const span = Math.max(...costs) - Math.min(...costs) || 1;
  if (Math.max(...costs) - at(cost) < 0.2 * span) return { position: "bottom" };
  const near = all.find(({ name: other, ...one }) => {
    const distance = (at(one.cost) - at(cost)) / span;
    return other !== name && distance >= 0 && distance < 0.3 && Math.abs(one.wins - wins) < 3;
  });
  if (!near) return { position: "right" };
  return { position: near.wins > wins ? "bottom" : "top", align: "left" };
}

/** Whether the costs differ so much that their logarithms are shown. */
function isLogarithmic(all: readonly Place[]): boolean {
  const costs = all.map(({ cost }) => cost);
  return Math.min(...costs) > 0 && Math.max(...costs) > 10 * Math.min(...costs);
}

const SETTINGS_AND_MODELS = [0, 1];

function placeOf(name: string, { cost, wins }: Pick<TradeoffPoint, "cost" | "wins">): Place[] {
  if (cost === null || wins === null) return [];
  const [mean, lo, hi] = [wins.mean, wins.lo, wins.hi].map((share) => Number(hundred(share)));
  return [{ name, cost: 1000 * cost, wins: mean!, lo: lo!, hi: hi! }];
}

function dot(place: Place) {
  return { value: [place.cost, place.wins], place };
}

/** A ring around a setting, with its name. */
function mark(place: Place, text: string, colour: string, surface: string) {
  return {
    type: "scatter",
    symbolSize: 14,
    z: 5,
    itemStyle: { color: surface, borderColor: colour, borderWidth: 3 },
    label: {
      show: true,
      position: "top",
      color: colour,
      fontSize: 12,
      fontWeight: 600,
      formatter: text,
    },
    data: [dot(place)],
  };
}
