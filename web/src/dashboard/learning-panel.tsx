import { useMemo } from "preact/hooks";
import type { Band, Learning } from "../api/stats.ts";
import { categoryAxis, GRID, tooltip, valueAxis } from "../charts/axes.ts";
import { Chart, type ChartOption } from "../charts/chart.tsx";
import { percent, plural, timeLabels } from "../format.ts";
import { Panel } from "../parts/panel.tsx";

/** Regret and win rate of the recent requests, by what is believed now. */
export function LearningPanel({ learning }: { learning: Learning | undefined }) {
  const stretches = learning?.stretches ?? [];
  return (
    <Panel
      title="How the choices got better"
      about="Requests from the beginning of the window until now, judged by what is believed now, with 95% bands."
    >
      {stretches.length === 0 ? (
        <p class="text-sm text-muted">
          {learning ? "Nothing was asked in this window." : "Looking back\u2026"}
        </p>
      ) : (
        <div class="grid gap-6 sm:grid-cols-2">
          <BandChart
            title="Regret a request"
            about="quality lost to the best model for it"
            learning={learning!}
            of={(stretch) => stretch.regret}
            format={(value) => value.toFixed(2)}
          />
          <BandChart
            title="Win rate"
            about="against a model drawn from the pool"
            learning={learning!}
            of={(stretch) => stretch.win_rate}
            format={percent}
            middle={0.5}
          />
        </div>
      )}
    </Panel>
  );
}

function BandChart({
  title,
  about,
  learning,
  of,
  format,
  middle,
}: {
  title: string;
  about: string;
  learning: Learning;
  of: (stretch: Learning["stretches"][number]) => Band;
  format: (value: number) => string;
  middle?: number;
}) {
  const { stretches } = learning;
  const bands = stretches.map(of);
  const times = timeLabels(stretches.map(({ from }) => from));
  const option: ChartOption = useMemo(
    () => (colours) => ({
      grid: GRID,
      xAxis: categoryAxis(colours, times, { boundaryGap: false }),
      yAxis: valueAxis(colours, format, middle === undefined ? { min: 0 } : around(middle)),
      tooltip: tooltip("axis", (hover: { dataIndex: number }[]) => {
        const i = hover[0]!.dataIndex;
        const { mean, lo, hi } = bands[i]!;
        return {
          title: `from ${times[i]}, ${plural(stretches[i]!.requests, "request")}`,
          rows: [
            { name: title, value: format(mean), colour: colours.accent },
            { name: "95% band", value: `${format(lo)} to ${format(hi)}` },
          ],
        };
      }),
      series: [
        // The band is the space between two lines: one that is not seen, and what is stacked on it.
        { ...HIDDEN, data: bands.map(({ lo }) => lo) },
        {
          ...HIDDEN,
          areaStyle: { color: colours.accent, opacity: 0.16 },
          data: bands.map(({ lo, hi }) => hi - lo),
        },
        {
          type: "line",
          symbol: stretches.length < 3 ? "circle" : "none",
          symbolSize: 7,
          itemStyle: { color: colours.accent },
          lineStyle: { color: colours.accent, width: 2.5 },
          data: bands.map(({ mean }) => mean),
          ...(middle !== undefined && {
            markLine: {
              silent: true,
              symbol: "none",
              label: { show: false },
              lineStyle: { color: colours.strong, type: "dashed" },
              data: [{ yAxis: middle }],
            },
          }),
        },
      ],
    }),
    [learning],
  );
  const last = bands.at(-1)!;
  return (
    <div class="flex min-w-0 flex-col gap-1">
      <h3 class="text-sm">
        {title} <span class="text-muted">{about}</span>
      </h3>
      <Chart
        option={option}
        height={200}
        label={`${title}: ${format(bands[0]!.mean)} at first, ${format(last.mean)} at last, between ${format(last.lo)} and ${format(last.hi)}.`}
      />
    </div>
  );
}

/** An axis with room on both sides of a middle, in steps that read well. */
function around(middle: number) {
  const step = 0.05;
  return {
    interval: step,
    min: ({ min }: { min: number }) => step * Math.floor(Math.min(min, middle - step) / step),
    max: ({ max }: { max: number }) => step * Math.ceil(Math.max(max, middle + step) / step),
  };
}

const HIDDEN = {
  type: "line",
  stack: "band",
  stackStrategy: "all",
  symbol: "none",
  silent: true,
  lineStyle: { opacity: 0 },
};
