import * as Plot from "@observablehq/plot";
import { dodge, textWidth } from "./labels.ts";
import { drawCompact, INK, pixelScale } from "./svg.ts";

export interface LineStyle {
  readonly color: string;
  /** Color of the label, if the line's is too light for text. */
  readonly ink?: string | undefined;
  readonly dash: string;
  readonly width: number;
  /** Whether the 95% band is drawn. */
  readonly band: boolean;
}

export interface LinePoint {
  readonly t: number;
  readonly mean: number;
  readonly lo: number;
  readonly hi: number;
}

export interface PlotLine {
  readonly name: string;
  /** The text at the end of the line in the last panel. */
  readonly label: string;
  readonly labelSize: number;
  readonly style: LineStyle;
  readonly points: readonly LinePoint[];
  /** Whether the line leaves the figure at the top. */
  readonly cut?: boolean | undefined;
}

export interface LinePlot {
  readonly title: string;
  /** Side by side with a common y axis. Lines drawn later lie above. */
  readonly panels: readonly { readonly title: string; readonly lines: readonly PlotLine[] }[];
  readonly rounds: number;
  readonly xLabel: string;
  readonly yLabel: string;
  /** Size of a panel in pixels. */
  readonly width: number;
  readonly height: number;
  /** A vertical line after so many rounds. */
  readonly event?: { readonly after: number; readonly text: string } | undefined;
  /** Whether the y axis ends at a round number. */
  readonly nice?: boolean | undefined;
}

const MARGIN = { left: 46, top: 34, bottom: 40 };
const GAP = 0.07; // between panels, in widths of a panel
const LEADER = 22; // from the last round to the labels
const LINE_GAP = 2.5; // between labels

/** Values by round: a line per policy or curve with its 95% band; the labels stand at the last panel. */
export function linePlotSvg(plot: LinePlot): string {
  const { rounds, width, event } = plot;
  const span = plot.panels.length * (1 + GAP) - GAP;
  const right = MARGIN.left + span * width;
  const panels = plot.panels.map((panel, i) => ({ ...panel, from: i * (1 + GAP) }));
  const lines = panels.flatMap(({ lines, from }) =>
    lines.map((line) => placed(line, from, rounds)),
  );
  const values = lines.flatMap(({ points, style }) =>
    points.flatMap(({ mean, lo, hi }) => (style.band ? [mean, lo, hi] : [mean])),
  );
  const [lowest, highest] = [Math.min(0, ...values), Math.max(0, ...values)];

  const last = panels.at(-1)?.lines ?? [];
  const sizes = last.map(({ labelSize }) => labelSize + LINE_GAP);
  const needed = sizes.reduce((sum, size) => sum + size, 0);
  const bottom = MARGIN.top + Math.max(plot.height, needed);
  const x = pixelScale([0, span], [MARGIN.left, right], { nice: false });
  const y = pixelScale(lowest < highest ? [lowest, highest] : [0, 1], [bottom, MARGIN.top], {
    nice: plot.nice ?? true,
  });
  // Positions of labels are found in pixels and passed to Plot as data.
  const sorted = last
    .map((line) => placed(line, panels.at(-1)!.from, rounds))
    .sort((a, b) => endOf(b).mean - endOf(a).mean);
  const centers = dodge(
    sorted.map((line) => y.toPixel(endOf(line).mean)),
    sorted.map(({ labelSize }) => labelSize + LINE_GAP),
    MARGIN.top - 8,
    bottom + 8,
  );
  const labels = sorted.map((line, i) => ({
    ...line,
    end: endOf(line),
    at: y.toData(centers[i]!),
  }));
  type Label = (typeof labels)[number];
  const labelWidth = Math.max(
    40,
    ...labels.map(({ label, labelSize }) => textWidth(label, labelSize)),
  );
  const ticks = panels.flatMap(({ from }, i) =>
    roundTicks(rounds)
      .filter((t) => i === panels.length - 1 || t < 0.93 * rounds) // the next panel's 0 is there
      .map((t) => ({ x: from + t / rounds, text: String(t) })),
  );
  const events = event
    ? panels.map(({ from }) => ({ x: from + event.after / rounds, text: event.text }))
    : [];
  const rightMargin = Math.ceil(LEADER + labelWidth + 6);
  return drawCompact(plot.title, {
    width: Math.ceil(right) + rightMargin,
    height: bottom + MARGIN.bottom,
    marginLeft: MARGIN.left,
    marginRight: rightMargin,
    marginTop: MARGIN.top,
    marginBottom: MARGIN.bottom,
    x: { ...x.options, axis: null },
    y: y.options,
    style: { fontSize: "11px" },
    marks: [
      ...panels.flatMap(({ from }) => [
        Plot.gridY({ ticks: 6, x1: from, x2: from + 1, stroke: INK, strokeOpacity: 0.1 }),
        Plot.ruleY([0], { x1: from, x2: from + 1, stroke: INK, strokeOpacity: 0.5 }),
      ]),
      Plot.axisY({ ticks: 6, tickSize: 0, label: plot.yLabel, labelArrow: "none" }),
      Plot.tickX(ticks, {
        x: "x",
        y: null,
        insetTop: bottom - MARGIN.top,
        insetBottom: -4,
        stroke: INK,
        strokeOpacity: 0.5,
      }),
      Plot.text(ticks, { x: "x", text: "text", frameAnchor: "bottom", dy: 16 }),
      Plot.text(panels, {
        x: ({ from }: { from: number }) => from + 0.5,
        text: "title",
        frameAnchor: "top",
        dy: -14,
        fontWeight: "600",
      }),
      Plot.ruleX(events, { x: "x", stroke: INK, strokeOpacity: 0.35, strokeWidth: 0.8 }),
      Plot.text(events, {
        x: "x",
        text: "text",
        frameAnchor: "top",
        textAnchor: "end",
        dx: -4,
        dy: 6,
        fontSize: 9,
        fill: "#555555",
      }),
      Plot.text([plot.xLabel], { x: span / 2, frameAnchor: "bottom", dy: 33 }),
      ...lines.filter(({ style }) => style.band).map(bandOf),
      ...lines.map(lineOf),
      Plot.link(
        labels.filter(({ cut }) => !cut),
        {
          x1: ({ end }: Label) => end.x,
          y1: ({ end }: Label) => end.mean,
          x2: x.toData(right + LEADER - 3),
          y2: "at",
          stroke: ({ style }: Label) => style.color,
          strokeWidth: 0.6,
        },
      ),
      ...[...new Set(labels.map(({ labelSize }) => labelSize))].map((fontSize) =>
        Plot.text(
          labels.filter(({ labelSize }) => labelSize === fontSize),
          {
            x: x.toData(right + LEADER),
            y: "at",
            text: "label",
            fill: ({ style }: Label) => style.ink ?? style.color,
            fontSize,
            textAnchor: "start",
            title: "name",
            className: "label",
          },
        ),
      ),
      ...(lines.length === 0
        ? [Plot.text(["No rounds to show"], { frameAnchor: "middle", fontSize: 14 })]
        : []),
    ],
  });
}

/** A line whose points have an x in widths of a panel. */
function placed(line: PlotLine, from: number, rounds: number) {
  return {
    ...line,
    points: line.points.map((point) => ({ ...point, x: from + point.t / rounds })),
  };
}

type Placed = ReturnType<typeof placed>;

function endOf({ points }: Placed): Placed["points"][number] {
  return points.at(-1)!;
}

function bandOf({ points, style }: Placed) {
  return Plot.areaY(points, { x: "x", y1: "lo", y2: "hi", fill: style.color, fillOpacity: 0.12 });
}

function lineOf({ name, points, style }: Placed) {
  return Plot.lineY(points, {
    x: "x",
    y: "mean",
    stroke: style.color,
    strokeWidth: style.width,
    strokeDasharray: style.dash,
    strokeLinecap: "butt",
    title: () => name,
  });
}

/** At most five multiples of a round number, from 0. */
function roundTicks(rounds: number): number[] {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(rounds)) - 1);
  const steps = [1, 2, 2.5, 5, 6, 10, 20, 24, 25, 50, 100].map((factor) => factor * power);
  const step = steps.find((one) => Number.isInteger(one) && rounds / one <= 4) ?? rounds;
  return Array.from({ length: Math.floor(rounds / step) + 1 }, (_, i) => i * step);
}
