import type { EChartsCoreOption, EChartsType } from "echarts/core";
import { useEffect, useRef, useState } from "preact/hooks";
import { useMedia } from "../parts/media.ts";
import { usePage } from "../shell/page.ts";
import { useValue } from "../state/observable.ts";
import { type Colours, readColours } from "./colours.ts";
import "./charts.css";

export type ChartOption = (colours: Colours) => EChartsCoreOption;

/** A picture with a sentence for who does not see it. */
export function Chart({
  option,
  label,
  height = 240,
  onClick,
}: {
  option: ChartOption;
  label: string;
  height?: number;
  onClick?: (data: unknown) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType | undefined>(undefined);
  const click = useRef(onClick);
  click.current = onClick;
  const [isReady, setIsReady] = useState(false);
  const colours = useColours();

  useEffect(() => {
    let isGone = false;
    let resizing: ResizeObserver | undefined;
    import("./echarts.ts").then(
      ({ init }) => {
        if (isGone || !place.current) return;
        const made = init(place.current, null, { renderer: "canvas" });
        made.on("click", ({ data }) => click.current?.(data));
        chart.current = made;
        resizing = new ResizeObserver(() => made.resize());
        resizing.observe(place.current);
        setIsReady(true);
      },
      () => {}, // the sentence is there
    );
    return () => {
      isGone = true;
      resizing?.disconnect();
      chart.current?.dispose();
    };
  }, []);

  useEffect(() => {
    if (!isReady) return;
    chart.current?.setOption({ ...COMMON, ...option(colours) }, { notMerge: true });
  }, [isReady, option, colours]);

  return (
    <div
      ref={place}
      role="img"
      aria-label={label}
      class="w-full min-w-0"
      style={{ height: `${height}px` }}
    />
  );
}

/** Numbers move often; what slides all the time is hard to read. */
const COMMON = { animation: false };

/** The colours of the theme that is on. */
function useColours(): Colours {
  const theme = useValue(usePage().theme);
  const isDark = useMedia("(prefers-color-scheme: dark)");
  const [colours, setColours] = useState(readColours);
  useEffect(() => setColours(readColours()), [theme, isDark]);
  return colours;
}
