import { TimeChart } from "../charts/time-chart.tsx";
import { Bars } from "../parts/bars.tsx";
import { Legend } from "../parts/legend.tsx";
import { Panel } from "../parts/panel.tsx";
import type { OverTimeProps } from "./series.ts";

/** Amounts over time as a chart; as bars if so few steps have requests that a chart would show nothing. */
export function SeriesPanel({
  title,
  about,
  points,
  bars,
  legend,
  ...chart
}: Pick<OverTimeProps, "points"> & {
  title: string;
  about: string;
  bars: Parameters<typeof Bars>[0]["bars"];
  legend: Parameters<typeof Legend>[0]["entries"];
} & Omit<Parameters<typeof TimeChart>[0], "data" | "times">) {
  const isShort = points.filter(({ requests, votes }) => requests + votes > 0).length < 3;
  return (
    <Panel title={title} about={about}>
      {isShort ? (
        <Bars bars={bars} label={title} />
      ) : (
        <>
          <TimeChart data={[points]} times={points.map(({ at }) => at)} {...chart} />
          <Legend entries={legend} />
        </>
      )}
    </Panel>
  );
}
