import * as Plot from "@observablehq/plot";
import { textWidth } from "./labels.ts";
import { drawCompact } from "./svg.ts";

/** Points in three dimensions, which the page can rotate. */
export interface PointsPicture {
  readonly panels: readonly {
    readonly title: string;
    readonly points: readonly (readonly [number, number, number])[];
    readonly category: readonly number[];
  }[];
  readonly categories: readonly string[];
  readonly colors: readonly string[];
}

const SIDE = 380;
const TOP = 30;
const LEGEND = 26;

/** The view from slightly above and from the side. The page starts with the same view. */
export const VIEW = { turn: 0.7, tilt: 0.4 };

/** A picture of points in three dimensions. Near points are larger and darker. */
export function pointsSvg(title: string, { panels, categories, colors }: PointsPicture): string {
  const placed = panels.map((panel, i) => {
    const seen = panel.points.map((point) => viewed(point));
    const reach = 1.05 * Math.max(...seen.map(({ x, y }) => Math.max(Math.abs(x), Math.abs(y))));
    const centre = { x: (i + 0.5) * SIDE, y: TOP + SIDE / 2 };
    const dots = seen.map(({ x, y, depth }, n) => ({
      x: centre.x + (x / reach) * (SIDE / 2 - 8),
      y: centre.y - (y / reach) * (SIDE / 2 - 8),
      near: 0.5 + depth / (2 * reach),
      color: colors[panel.category[n]!]!,
    }));
    return { title: panel.title, x: i * SIDE + 8, dots: dots.sort((a, b) => a.near - b.near) };
  });
  const clamp = (share: number) => Math.min(1, Math.max(0, share));
  type Dot = (typeof placed)[number]["dots"][number];
  const y = TOP + SIDE + LEGEND / 2;
  let x = 12;
  const legend = categories.map((name, m) => {
    const entry = { name, color: colors[m]!, x, y };
    x += 26 + textWidth(name, 11);
    return entry;
  });
  type Entry = (typeof legend)[number];
  return drawCompact(title, {
    width: Math.max(panels.length * SIDE, x),
    height: TOP + SIDE + LEGEND,
    margin: 0,
    x: { type: "identity", axis: null },
    y: { type: "identity", axis: null },
    r: { type: "identity" },
    opacity: { type: "identity" },
    style: { fontSize: "11px" },
    marks: [
      ...placed.map(({ dots }) =>
        Plot.dot(dots, {
          x: "x",
          y: "y",
          r: (dot: Dot) => 1.6 + 1.6 * clamp(dot.near),
          fill: (dot: Dot) => dot.color,
          fillOpacity: (dot: Dot) => 0.35 + 0.6 * clamp(dot.near),
          stroke: "none",
        }),
      ),
      Plot.text(placed, {
        x: "x",
        y: 16,
        text: "title",
        textAnchor: "start",
        fontWeight: "600",
        fontSize: 12,
      }),
      Plot.dot(legend, { x: "x", y: "y", r: 4, fill: (entry: Entry) => entry.color }),
      Plot.text(legend, {
        x: (entry: Entry) => entry.x + 9,
        y: "y",
        text: (entry: Entry) => entry.name,
        textAnchor: "start",
      }),
    ],
  });
}

function viewed([x, y, z]: readonly [number, number, number]) {
  const { turn, tilt } = VIEW;
  const across = x * Math.cos(turn) + z * Math.sin(turn);
  const away = z * Math.cos(turn) - x * Math.sin(turn);
  return {
    x: across,
    y: y * Math.cos(tilt) - away * Math.sin(tilt),
    depth: away * Math.cos(tilt) + y * Math.sin(tilt),
  };
}
