import { dodge } from "./labels.ts";
import {
  type Color,
  colored,
  element,
  hover,
  label,
  type Picture,
  path,
  textWidth,
} from "./svg.ts";

export interface LineStyle {
  readonly color: Color;
  readonly dash: string;
  readonly width: number;
  /** Whether the 95% band is drawn. */
  readonly band: boolean;
}

export interface ChartPoint {
  readonly x: number;
  readonly y: number;
  /** Bounds of the 95% interval; NaN if there is none. */
  readonly lo: number;
  readonly hi: number;
}

/** A line, or a dot with its interval if it has only one point. Its label stands at the right. */
export interface Series {
  /** Shown when the reader points at the label or the line. */
  readonly name: string;
  readonly label: string;
  readonly style: LineStyle;
  readonly points: readonly ChartPoint[];
  /** Whether a dot is drawn without filling. */
  readonly hollow?: boolean | undefined;
  readonly fontSize?: number | undefined;
}

export interface Chart {
  readonly title: string;
  /** Later series lie above earlier ones. */
  readonly series: readonly Series[];
  readonly x: Axis;
  readonly y: Axis;
  /** Size of the area between the axes; it grows if the labels need more height. */
  readonly width: number;
  readonly height: number;
  /** Vertical lines with a text. */
  readonly events?: readonly { readonly x: number; readonly text: string }[] | undefined;
  /** Points that a thin dashed staircase joins. */
  readonly front?: readonly { readonly x: number; readonly y: number }[] | undefined;
}

interface Axis {
  readonly label: string;
  /** The axis goes from 0, or from the lowest value if that is negative, to this. */
  readonly to: number;
  readonly from?: number | undefined;
  readonly logarithmic?: boolean | undefined;
}

const MARGIN = { left: 40, top: 40, bottom: 38 };
/** Distance from the last value to the labels. */
const LEADER = 16;
const FONT_SIZE = 10.5;
const LINE_GAP = 2.5;

/** Lines by round, or dots by two numbers. Every series is named beside its last point. */
export function chartPicture(chart: Chart): Picture {
  const { title, series, width, events = [], front = [] } = chart;
  const heights = series.map(({ fontSize = FONT_SIZE }) => fontSize + LINE_GAP);
  const height = Math.max(chart.height, total(heights));
  const [right, bottom] = [MARGIN.left + width, MARGIN.top + height];
  const x = scaleOf(chart.x, MARGIN.left, right);
  const y = scaleOf(chart.y, bottom, MARGIN.top);
  const at = ({ x: across, y: up }: { x: number; y: number }) => [x.at(across), y.at(up)] as const;

  const sorted = series
    .map((one) => ({ one, end: at(one.points.at(-1)!), size: one.fontSize ?? FONT_SIZE }))
    .sort((a, b) => a.end[1] - b.end[1]);
  const centers = dodge(
    sorted.map(({ end }) => end[1]),
    sorted.map(({ size }) => size + LINE_GAP),
    MARGIN.top - 6,
    bottom + 6,
  );
  const labels = new Map(
    sorted.map(({ one, end, size }, i) => {
      const near = end[0] >= right - 1 && Math.abs(end[1] - centers[i]!) < 2;
      const d = near ? "" : path([end, [right + LEADER - 3, centers[i]!]]);
      const attributes = { class: "label", ...(size !== FONT_SIZE && { "font-size": size }) };
      const leader = d && element("path", { d, stroke: "currentColor", "stroke-width": ".6" });
      return [one, leader + label(right + LEADER, centers[i]!, one.label, attributes)];
    }),
  );
  const widest = Math.max(
    40,
    ...series.map(({ label: text, fontSize = FONT_SIZE }) => textWidth(text, fontSize)),
  );

  const faint = { stroke: "currentColor", "stroke-opacity": ".15" };
  const grid = y.ticks.map((value) =>
    element("path", { d: `M${MARGIN.left} ${round(y.at(value))}h${width}` }),
  );
  const stairs = front.flatMap((point, i) => {
    const [px, py] = at(point);
    return i === 0
      ? [[px, py] as const]
      : [[px, y.at(front[i - 1]!.y)] as const, [px, py] as const];
  });
  const body = [
    element("g", { fill: "none", ...faint }, ...grid),
    element(
      "g",
      { "text-anchor": "end" },
      ...y.ticks.map((v) => label(MARGIN.left - 5, y.at(v), y.text(v))),
    ),
    ...x.ticks.map((v) => label(x.at(v), bottom + 11, x.text(v))),
    label(MARGIN.left - 32, 8, title, { "font-weight": 600, "text-anchor": "start" }),
    label(MARGIN.left - 32, 24, chart.y.label, { ...QUIET, "text-anchor": "start" }),
    label(MARGIN.left + width / 2, bottom + 27, chart.x.label, QUIET),
    ...events.flatMap((event) => [
      element("path", { d: `M${round(x.at(event.x))} ${MARGIN.top}v${height}`, ...faint }),
      label(x.at(event.x) - 4, MARGIN.top + 6, event.text, { ...QUIET, "text-anchor": "end" }),
    ]),
    stairs.length > 1
      ? element("path", { d: path(stairs), fill: "none", ...LINE, "stroke-dasharray": "5 3" })
      : "",
    // Attributes that the labels share are on their group, because a report has thousands of labels.
    element(
      "g",
      { "text-anchor": "start", "font-size": FONT_SIZE },
      ...series.map((one) =>
        colored(one.style.color, hover(one.name), marksOf(one, at), labels.get(one)!),
      ),
    ),
    series.length === 0
      ? label(MARGIN.left + width / 2, bottom - height / 2, "No rounds to show")
      : "",
  ];
  const heading = Math.max(textWidth(title, 11), textWidth(chart.y.label, 10));
  const wide = Math.max(right + LEADER + widest, MARGIN.left - 32 + heading);
  const size = { width: Math.ceil(wide + 6), height: bottom + MARGIN.bottom };
  return { title, ...size, body: body.join("") };
}

const QUIET = { "fill-opacity": ".7", "font-size": 10 };
const LINE = { stroke: "currentColor", "stroke-opacity": ".5" };

type Place = (point: { x: number; y: number }) => readonly [number, number];

function marksOf({ points, style, hollow }: Series, at: Place): string {
  const bound = (points: readonly ChartPoint[], side: "lo" | "hi") =>
    points.map((point) => at({ x: point.x, y: point[side] }));
  if (points.length === 1) {
    const [cx, cy] = at(points[0]!);
    const whisker = [...bound(points, "lo"), ...bound(points, "hi")];
    return [
      whisker.flat().every(Number.isFinite) ? element("path", { d: path(whisker), ...LINE }) : "",
      element("circle", {
        cx,
        cy,
        r: hollow ? 3 : 4.5,
        stroke: "currentColor",
        "fill-opacity": hollow ? 0 : undefined,
      }),
    ].join("");
  }
  const band = () =>
    `${path(bound(points, "hi"))}${path(bound(points.toReversed(), "lo")).replace("M", "L")}z`;
  return [
    style.band ? element("path", { class: "band", d: band(), "fill-opacity": ".12" }) : "",
    element("path", {
      d: path(points.map(at)),
      fill: "none",
      stroke: "currentColor",
      "stroke-width": style.width,
      "stroke-dasharray": style.dash === "none" ? undefined : style.dash,
    }),
  ].join("");
}

interface Scale {
  readonly ticks: readonly number[];
  at(value: number): number;
  text(tick: number): string;
}

/** Linear with round ticks, or logarithmic with ticks at 1, 2 and 5 of each decade. */
function scaleOf({ from = 0, to, logarithmic }: Axis, start: number, end: number): Scale {
  const f = logarithmic ? Math.log : (value: number) => value;
  const [low, high] = [f(from), f(to)];
  const at = (value: number) => start + ((f(value) - low) / (high - low || 1)) * (end - start);
  const text = (tick: number) => String(Number(tick.toPrecision(6)));
  if (logarithmic) {
    const powers = Array.from({ length: 40 }, (_, i) => 10 ** (i - 20));
    const inside = (digits: readonly number[]) =>
      powers.flatMap((p) => digits.map((d) => d * p)).filter((v) => v >= from && v <= to);
    const [few, many] = [inside([1]), inside([1, 2, 5])];
    return { at, text, ticks: many.length > 8 ? few : many };
  }
  const step = tickStep((to - from) / 5);
  const first = Math.ceil(from / step - 1e-9);
  const count = Math.floor(to / step + 1e-9) - first + 1;
  return { at, text, ticks: Array.from({ length: count }, (_, i) => (first + i) * step) };
}

/** The next of .., 0.5, 1, 2, 5, 10, .. */
function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least || 1));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least * 0.999)!;
}

/** The first tick that is at least this large, so that an axis can end there. */
export function niceEnd(value: number): number {
  const step = tickStep(value / 5);
  return Math.ceil(value / step - 1e-9) * step || 1;
}

/**
 * The value at which an axis ends. Infinity, unless half of the values would lie in the
 * lowest 4% of the axis; then it ends just above the values within 5 times the median.
 */
export function axisCap(values: readonly number[]): number {
  const positive = values.filter((value) => value > 0).sort((a, b) => a - b);
  const median = positive[(positive.length - 1) >> 1];
  if (median === undefined || positive.at(-1)! <= 25 * median) return Infinity;
  return 1.25 * positive.findLast((value) => value <= 5 * median)!;
}

function round(value: number): number {
  return Number(value.toFixed(1));
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
