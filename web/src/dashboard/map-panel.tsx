import { useMemo, useState } from "preact/hooks";
import type { MapPoint, PromptMap } from "../../../src/client.ts";
import { tooltip } from "../charts/axes.ts";
import { Chart, type ChartOption } from "../charts/chart.tsx";
import { categoryColourOf, colourOf } from "../charts/colours.ts";
import { decisionHref } from "../page/route.ts";
import { Legend } from "../parts/legend.tsx";
import { Panel } from "../parts/panel.tsx";
import { Segmented } from "../parts/segmented.tsx";
import { clockTime, plural } from "../text/format.ts";
import { topicOf } from "../text/topics.ts";

const COLOURINGS = [
  { value: "category", text: "By category" },
  { value: "model", text: "By model" },
] as const;

/** A map of the latest prompts on which similar prompts are close to each other. */
export function MapPanel({ map, models }: { map: PromptMap; models: readonly string[] }) {
  const [by, setBy] = useState<"category" | "model">("category");
  const { points, categories } = map;
  const names = by === "category" ? categories.map(({ category }) => category) : models;
  const nameOf = (point: MapPoint) => (by === "category" ? point.category : point.models?.[0]);
  const colourIn = by === "category" ? categoryColourOf : colourOf;
  const shown = names.filter((name) => points.some((point) => nameOf(point) === name));
  const option: ChartOption = useMemo(
    () => (colours) => ({
      grid: { left: 8, right: 8, top: 8, bottom: 8 },
      xAxis: { show: false, scale: true },
      yAxis: { show: false, scale: true },
      tooltip: tooltip("item", ({ data }: { data: Dot }) => ({
        title: clockTime(Date.parse(data.point.at)),
        rows: [
          { name: topicOf(data.point.category), value: "" },
          { name: data.point.models?.join(" and ") ?? "duel without a vote", value: "" },
        ],
      })),
      series: [
        {
          type: "scatter",
          symbolSize: 9,
          // Categories are squares, models are circles.
          symbol: by === "category" ? "rect" : "circle",
          cursor: "pointer",
          data: points.map((point): Dot & { itemStyle: object } => {
            const name = nameOf(point);
            const colour = name === undefined ? colours.strong : colourIn(names, name);
            return {
              value: [point.x, point.y],
              point,
              itemStyle: { color: colour, opacity: 0.75 },
            };
          }),
        },
        {
          type: "scatter",
          symbolSize: 1,
          silent: true,
          tooltip: { show: false },
          label: {
            show: true,
            formatter: "{b}",
            color: colours.ink,
            fontSize: 12,
            fontWeight: 600,
            backgroundColor: colours.surface,
            borderRadius: 4,
            padding: [3, 5],
            opacity: 0.85,
          },
          labelLayout: { hideOverlap: true },
          data: categories.map(({ category, x, y }) => ({
            name: topicOf(category),
            value: [x, y],
          })),
        },
      ],
    }),
    [map, by],
  );
  return (
    <Panel
      title="Map of prompts"
      about="The latest prompts. Similar prompts are close to each other. Click a point, or press Enter on it, to open its decision."
      actions={<Segmented label="Colours" options={COLOURINGS} value={by} onChange={setBy} />}
    >
      <Chart
        option={option}
        height={320}
        isTall
        series={POINTS}
        label={`Map of ${plural(points.length, "prompt")}: ${categories.map(({ category }) => `${topicOf(category)} ${points.filter((point) => point.category === category).length}`).join(", ")}. The list of decisions contains all of them.`}
        onClick={(data) => {
          const { point } = data as Dot;
          if (point) location.hash = decisionHref(point.id);
        }}
      />
      <Legend
        entries={shown.map((name) => ({
          name: by === "category" ? topicOf(name) : name,
          colour: colourIn(names, name),
        }))}
      />
    </Panel>
  );
}

const POINTS = [0];

interface Dot {
  readonly value: [number, number];
  readonly point: MapPoint;
}
