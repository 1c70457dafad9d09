import { useMemo } from "preact/hooks";
import { GRID, tooltip, valueAxis } from "../charts/axes.ts";
import { Chart, type ChartOption } from "../charts/chart.tsx";
import { categoryColourOf } from "../charts/colours.ts";
import { Legend } from "../parts/legend.tsx";
import { topicOf } from "../text/topics.ts";
import { winsOf } from "../text/wins.ts";
import type { Comparison } from "./truth.ts";

/** The part of the chart library's drawing API that draws an interval. */
interface DrawingApi {
  value(dimension: number): number;
  coord(point: readonly [number, number]): [number, number];
}

/** Distance of the lines of the grid: 10 wins of 100. */
const STEP = 0.2;

function widthOf({ lo, hi }: Comparison): number {
  return lo === null || hi === null ? 0 : hi - lo;
}

/** One dot per model and category; on the diagonal the estimate is exact. */
export function TruthChart({ pairs }: { pairs: readonly Comparison[] }) {
  const categories = [...new Set(pairs.map(({ category }) => category))];
  const option: ChartOption = useMemo(
    () => (colours) => {
      const ends = pairs.flatMap(({ truth, estimate }) => [truth, estimate]);
      const reach = STEP * Math.ceil(Math.max(STEP, ...ends.map(Math.abs)) / STEP - 1e-9);
      const colour = ({ category }: Comparison) => categoryColourOf(categories, category);
      const widest = Math.max(...pairs.map(widthOf), 1e-9);
      // Estimates with little data are faint.
      const opacity = (pair: Comparison) => 0.3 + 0.7 * (1 - widthOf(pair) / widest);
      const axis = (name: string) =>
        valueAxis(colours, winsOf, {
          min: -reach,
          max: reach,
          interval: STEP,
          name,
          nameLocation: "middle",
          nameTextStyle: { color: colours.muted, fontSize: 12 },
        });
      return {
        grid: { ...GRID, left: 28, bottom: 20 },
        xAxis: { ...axis("true wins of 100"), nameGap: 24 },
        yAxis: { ...axis("estimated wins of 100"), nameGap: 34 },
        tooltip: tooltip("item", ({ dataIndex }: { dataIndex: number }) => {
          const { model, category, truth, estimate, lo, hi } = pairs[dataIndex]!;
          return {
            title: `${model}, ${topicOf(category)}`,
            rows: [
              { name: "true wins of 100", value: winsOf(truth) },
              { name: "estimated", value: winsOf(estimate), colour: colour(pairs[dataIndex]!) },
              ...(lo === null
                ? []
                : [{ name: "95% interval", value: `${winsOf(lo)} to ${winsOf(hi!)}` }]),
            ],
          };
        }),
        series: [
          {
            type: "line",
            symbol: "none",
            silent: true,
            lineStyle: { color: colours.strong, type: "dashed", width: 1 },
            data: [
              [-reach, -reach],
              [reach, reach],
            ],
          },
          {
            type: "custom",
            silent: true,
            clip: true,
            data: pairs.map(({ truth, lo, hi }) => [truth, lo ?? 0, hi ?? 0]),
            renderItem: ({ dataIndex }: { dataIndex: number }, api: DrawingApi) => {
              const [x, y1] = api.coord([api.value(0), api.value(1)]);
              const [, y2] = api.coord([api.value(0), api.value(2)]);
              return {
                type: "line",
                shape: { x1: x, x2: x, y1, y2 },
                style: {
                  stroke: colour(pairs[dataIndex]!),
                  opacity: 0.45 * opacity(pairs[dataIndex]!) ** 2,
                  lineWidth: 2,
                },
              };
            },
          },
          {
            type: "scatter",
            symbolSize: 8,
            data: pairs.map((pair) => ({
              value: [pair.truth, pair.estimate],
              itemStyle: { color: colour(pair), opacity: opacity(pair) },
            })),
          },
        ],
      };
    },
    [pairs],
  );
  return (
    <div class="flex min-w-0 flex-col gap-2">
      <Chart
        option={option}
        height={320}
        label="Estimated and true quality in wins of 100, one dot per model and category. On the diagonal both are equal."
      />
      <Legend
        entries={categories.map((category) => ({
          name: topicOf(category),
          colour: categoryColourOf(categories, category),
        }))}
      />
    </div>
  );
}
