import type { Band, LearningCurve } from "../../../src/client.ts";
import { TimeChart } from "../charts/time-chart.tsx";
import { Panel } from "../parts/panel.tsx";
import { percent, plural } from "../text/format.ts";
import { lostWins } from "../text/wins.ts";

/** Regret and win rate of the window's requests, evaluated with the current posterior. */
export function LearningPanel({ learning }: { learning: LearningCurve | undefined }) {
  const stretches = learning?.stretches ?? [];
  return (
    <Panel
      title="Progress of learning"
      about="The requests of the time window, evaluated with the current posterior, with 95% intervals."
    >
      {stretches.length === 0 ? (
        <p class="text-sm text-muted">
          {learning ? "There were no requests in this time window." : "Loading\u2026"}
        </p>
      ) : (
        <div class="grid gap-6 sm:grid-cols-2">
          <BandChart
            title="Regret per request"
            about="wins of 100 lost by not choosing the best model"
            learning={learning!}
            of={(stretch) => stretch.regret}
            format={lostWins}
          />
          <BandChart
            title="Win rate"
            about="against a random model"
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
  learning: LearningCurve;
  of: (stretch: LearningCurve["stretches"][number]) => Band;
  format: (value: number) => string;
  middle?: number;
}) {
  const { stretches } = learning;
  const bands = stretches.map(of);
  const last = bands.at(-1)!;
  return (
    <div class="flex min-w-0 flex-col gap-1">
      <h3 class="text-sm">
        {title} <span class="text-muted">{about}</span>
      </h3>
      <TimeChart
        data={[learning]}
        times={stretches.map(({ from }) => from)}
        isLine
        format={format}
        axis={middle === undefined ? { min: 0 } : around(middle)}
        describe={(i, colours) => {
          const { mean, lo, hi } = bands[i]!;
          return {
            note: plural(stretches[i]!.requests, "request"),
            rows: [
              { name: title, value: format(mean), colour: colours.accent },
              { name: "95% interval", value: `${format(lo)} to ${format(hi)}` },
            ],
          };
        }}
        series={({ accent, strong }) => [
          // The interval is the area between an invisible line and a second one stacked on it.
          { ...HIDDEN, data: bands.map(({ lo }) => lo) },
          {
            ...HIDDEN,
            areaStyle: { color: accent, opacity: 0.16 },
            data: bands.map(({ lo, hi }) => hi - lo),
          },
          {
            type: "line",
            symbol: stretches.length < 3 ? "circle" : "none",
            symbolSize: 7,
            itemStyle: { color: accent },
            lineStyle: { color: accent, width: 2.5 },
            data: bands.map(({ mean }) => mean),
            ...(middle !== undefined && {
              markLine: {
                silent: true,
                symbol: "none",
                label: { show: false },
                lineStyle: { color: strong, type: "dashed" },
                data: [{ yAxis: middle }],
              },
            }),
          },
        ]}
        height={200}
        label={`${title}: ${format(bands[0]!.mean)} at the start, ${format(last.mean)} at the end (95% interval ${format(last.lo)} to ${format(last.hi)}).`}
      />
    </div>
  );
}

/** Limits of an axis with room on both sides of a middle value, in steps of 0.05. */
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
