import type { EChartsCoreOption, EChartsType } from "echarts/core";
import { useEffect, useRef, useState } from "preact/hooks";
import { usePage } from "../page/page.ts";
import { useMedia } from "../parts/media.ts";
import { useValue } from "../state/observable.ts";
import { ChartKeys, tipText } from "./chart-keys.ts";
import { type Colours, readColours } from "./colours.ts";
import "./charts.css";

export type ChartOption = (colours: Colours) => EChartsCoreOption;

/** A chart with a text alternative. The arrow keys show the values of its points. */
export function Chart({
  option,
  label,
  height = 240,
  isTall = false,
  series = LAST,
  onClick,
}: {
  option: ChartOption;
  label: string;
  height?: number;
  /** Whether the chart takes the height that its panel has left. */
  isTall?: boolean;
  /** Series whose points the arrow keys visit. Default: the last one. */
  series?: readonly number[];
  onClick?: (data: unknown) => void;
}) {
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType | undefined>(undefined);
  const keys = useRef<ChartKeys | undefined>(undefined);
  const click = useRef(onClick);
  click.current = onClick;
  const [tip, setTip] = useState("");
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
        keys.current = new ChartKeys(made, series);
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
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the fields of a form
    <div
      role="group"
      aria-label={`Values of the chart: arrow keys show them${onClick ? ", Enter opens one" : ""}`}
      tabIndex={0}
      class={`min-w-0 ${isTall ? "flex flex-1 flex-col" : ""}`}
      onKeyDown={(event) => {
        if (!keys.current?.press(event.key, click.current)) return;
        event.preventDefault();
        // The chart shows its tooltip before the next frame.
        requestAnimationFrame(() => setTip(container.current ? tipText(container.current) : ""));
      }}
      onBlur={() => {
        keys.current?.close();
        setTip("");
      }}
    >
      <div
        ref={container}
        role="img"
        aria-label={label}
        class={`w-full min-w-0 ${isTall ? "flex-1" : ""}`}
        style={isTall ? { minHeight: `${height}px` } : { height: `${height}px` }}
      />
      <p role="status" class="sr-only">
        {tip}
      </p>
    </div>
  );
}

const LAST = [-1];

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
