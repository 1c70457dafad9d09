import type { EChartsCoreOption, EChartsType } from "echarts/core";
import { useEffect, useRef, useState } from "preact/hooks";
import { usePage } from "../page/page.ts";
import { useMedia } from "../parts/media.ts";
import { useValue } from "../state/observable.ts";
import { type Colours, readColours } from "./colours.ts";
import "./charts.css";

export type ChartOption = (colours: Colours) => EChartsCoreOption;

/** A chart with a text alternative. */
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
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType | undefined>(undefined);
  const click = useRef(onClick);
  click.current = onClick;
  const [isReady, setIsReady] = useState(false);
  const colours = useColours();

  useEffect(() => {
    let isUnmounted = false;
    let resizing: ResizeObserver | undefined;
    import("./echarts.ts").then(
      ({ init }) => {
        if (isUnmounted || !container.current) return;
        const made = init(container.current, null, { renderer: "canvas" });
        made.on("click", ({ data }) => click.current?.(data));
        chart.current = made;
        resizing = new ResizeObserver(() => made.resize());
        resizing.observe(container.current);
        setIsReady(true);
      },
      () => {}, // the text alternative remains
    );
    return () => {
      isUnmounted = true;
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
      ref={container}
      role="img"
      aria-label={label}
      class="w-full min-w-0"
      style={{ height: `${height}px` }}
    />
  );
}

/** No animation: the numbers change often, and moving charts are hard to read. */
const COMMON = { animation: false };

/** The colours of the current theme. */
function useColours(): Colours {
  const theme = useValue(usePage().theme);
  const isDark = useMedia("(prefers-color-scheme: dark)");
  const [colours, setColours] = useState(readColours);
  useEffect(() => setColours(readColours()), [theme, isDark]);
  return colours;
}
