import type { EChartsType } from "echarts/core";

/** A point of a chart: the index of its series and its index there. */
interface Point {
  readonly seriesIndex: number;
  readonly dataIndex: number;
}

/**
 * Moves through the points of a chart with the keyboard: arrow keys, Home and End show the tooltip of a point, Enter opens
 * it, Escape closes the tooltip. Only points of the given series are visited; a negative number counts from the last one.
 */
export class ChartKeys {
  readonly #chart: EChartsType;
  readonly #series: readonly number[];
  #at = -1;

  constructor(chart: EChartsType, series: readonly number[]) {
    this.#chart = chart;
    this.#series = series;
  }

  /** Handles a key. Returns false if it means nothing here. */
  press(key: string, open: ((data: unknown) => void) | undefined): boolean {
    const points = this.#points();
    const last = points.length - 1;
    if (key === "Escape") {
      if (this.#at < 0) return false;
      this.close();
      return true;
    }
    if (key === "Enter") {
      const point = points[this.#at];
      if (!point || !open) return false;
      open(this.#data(point.seriesIndex)[point.dataIndex]);
      return true;
    }
    const next = NEXT[key]?.(this.#at, last);
    if (next === undefined || last < 0) return false;
    this.#at = Math.min(last, Math.max(0, next));
    this.#chart.dispatchAction({ type: "showTip", ...points[this.#at]! });
    return true;
  }

  close(): void {
    this.#at = -1;
    this.#chart.dispatchAction({ type: "hideTip" });
  }

  #points(): Point[] {
    const { length } = this.#chart.getOption().series as readonly unknown[];
    return this.#series.flatMap((index) => {
      const seriesIndex = index < 0 ? length + index : index;
      return this.#data(seriesIndex).map((_, dataIndex) => ({ seriesIndex, dataIndex }));
    });
  }

  #data(series: number): readonly unknown[] {
    const all = this.#chart.getOption().series as readonly { readonly data?: readonly unknown[] }[];
    return all[series]?.data ?? [];
  }
}

const NEXT: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowRight: (at) => at + 1,
  ArrowDown: (at) => at + 1,
  ArrowLeft: (at, last) => (at < 0 ? last : at - 1),
  ArrowUp: (at, last) => (at < 0 ? last : at - 1),
  Home: () => 0,
  End: (_, last) => last,
};

/** The text of the tooltip that a chart shows, for screen readers. */
export function tipText(container: Element): string {
  const [tip] = container.getElementsByClassName("chart-tip");
  const textOf = (row: Element) =>
    row.childElementCount === 0
      ? row.textContent
      : [...row.children].map(({ textContent }) => textContent).join(" ");
  return [...(tip?.children ?? [])].map((row) => textOf(row).trim()).join(", ");
}
