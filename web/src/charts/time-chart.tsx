import { useMemo } from "preact/hooks";
import { timeLabels } from "../text/format.ts";
import { categoryAxis, GRID, type Row, tooltip, valueAxis } from "./axes.ts";
import { Chart, type ChartOption } from "./chart.tsx";
import type { Colours } from "./colours.ts";

/** A chart over time. The functions read from `data`, and the chart is drawn again when it changes. */
export function TimeChart({
  data,
  times,
  isLine = false,
  format,
  axis,
  describe,
  series,
  label,
  height,
}: {
  data: readonly unknown[];
  times: readonly string[];
  /** Whether the chart has lines, which start at the axis; bars have room around them. */
  isLine?: boolean;
  format: (value: number) => string;
  /** Settings of the value axis. */
  axis?: object;
  /** Content of the tooltip at index i. The note follows the time. */
  describe: (i: number, colours: Colours) => { note?: string; rows: readonly Row[] };
  series: (colours: Colours) => readonly object[];
  label: string;
  height?: number;
}) {
  const option: ChartOption = useMemo(
    () => (colours) => {
      const labels = timeLabels(times);
      return {
        grid: GRID,
        xAxis: categoryAxis(
          colours,
          labels,
          { boundaryGap: !isLine },
          // Several points of one minute have the same label, which is shown once.
          new Set(labels).size < labels.length
            ? { interval: (i: number) => labels[i] !== labels[i - 1] }
            : {},
        ),
        yAxis: valueAxis(colours, format, axis),
        tooltip: tooltip("axis", (hover: readonly { readonly dataIndex: number }[]) => {
          const i = hover[0]!.dataIndex;
          const { note, rows } = describe(i, colours);
          return { title: note === undefined ? labels[i]! : `${labels[i]}, ${note}`, rows };
        }),
        series: series(colours),
      };
    },
    data,
  );
  return <Chart option={option} label={label} {...(height !== undefined && { height })} />;
}
