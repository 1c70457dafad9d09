import type { Colours } from "./colours.ts";

/** Margins of a chart. */
export const GRID = { left: 8, right: 12, top: 12, bottom: 4, containLabel: true };

export function valueAxis(colours: Colours, format: (value: number) => string, extra: object = {}) {
  return {
    type: "value",
    axisLabel: { color: colours.muted, formatter: format, fontSize: 12 },
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: colours.line } },
    splitNumber: 4,
    ...extra,
  };
}

export function categoryAxis(
  colours: Colours,
  data: readonly string[],
  extra: object,
  labels: object,
) {
  return {
    type: "category",
    data,
    axisLabel: {
      color: colours.muted,
      fontSize: 12,
      hideOverlap: true,
      // The first and the last label end at the edges of the chart.
      alignMinLabel: "left",
      alignMaxLabel: "right",
      ...labels,
    },
    axisLine: { lineStyle: { color: colours.line } },
    axisTick: { show: false },
    ...extra,
  };
}

/** A row of a tooltip. */
export interface Row {
  readonly name: string;
  readonly value: string;
  readonly colour?: string | undefined;
}

/** A tooltip built from elements, because the page's Content-Security-Policy forbids HTML with style attributes. */
export function tooltip(
  trigger: "axis" | "item",
  describe: (params: never) => { title: string; rows: readonly Row[] } | undefined,
) {
  return {
    trigger,
    confine: true,
    className: "chart-tooltip",
    borderWidth: 0,
    padding: 0,
    backgroundColor: "transparent",
    transitionDuration: 0,
    formatter: (params: never) => {
      const content = describe(params);
      return content ? tooltipElement(content.title, content.rows) : "";
    },
  };
}

function tooltipElement(title: string, rows: readonly Row[]): HTMLElement {
  const box = element("div", "chart-tip", "");
  box.append(element("div", "chart-tip-title", title));
  for (const { name, value, colour } of rows) {
    const row = element("div", "chart-tip-row", "");
    const dot = element("span", "chart-tip-dot", "");
    if (colour !== undefined) dot.style.background = colour;
    else dot.hidden = true;
    row.append(dot, element("span", "", name), element("span", "chart-tip-value", value));
    box.append(row);
  }
  return box;
}

function element(tag: string, className: string, text: string): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}
