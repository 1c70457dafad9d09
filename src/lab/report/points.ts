import { colored, element, label, type Picture, textWidth } from "./svg.ts";

/** Points in three dimensions, each with its category. */
export interface PointsMap {
  readonly title: string;
  readonly points: readonly (readonly [number, number, number])[];
  readonly category: readonly number[];
  readonly categories: readonly string[];
}

const [SIDE, TOP, LEGEND] = [380, 28, 26];
/** The view from slightly above and from the side. */
const [TURN, TILT] = [0.7, 0.4];

/** Points seen from slightly above and from the side. Near points are larger and darker. */
export function pointsPicture({ title, points, category, categories }: PointsMap): Picture {
  const seen = points.map(viewed);
  const reach = 1.05 * Math.max(...seen.map(({ x, y }) => Math.max(Math.abs(x), Math.abs(y))));
  const dots = seen
    .map(({ x, y, depth }, n) => ({ x, y, near: 0.5 + depth / (2 * reach), m: category[n]! }))
    .sort((a, b) => a.near - b.near)
    .map(({ x, y, near, m }) => {
      const share = Math.min(1, Math.max(0, near));
      const circle = element("circle", {
        cx: SIDE / 2 + (x / reach) * (SIDE / 2 - 8),
        cy: TOP + SIDE / 2 - (y / reach) * (SIDE / 2 - 8),
        r: 1.6 + 1.6 * share,
        "fill-opacity": (0.35 + 0.6 * share).toFixed(2),
      });
      return { m, circle };
    });
  // Points of one category share an element, which holds their color.
  const groups = [...Map.groupBy(dots, ({ m }) => m)].map(([m, own]) =>
    element("g", { class: "points" }, colored(m, ...own.map(({ circle }) => circle))),
  );
  let x = 10;
  const legend = categories.map((name, m) => {
    const from = x;
    x += 26 + textWidth(name, 10);
    const y = TOP + SIDE + LEGEND / 2;
    const text = label(from + 8, y, name, { "text-anchor": "start", "font-size": 10 });
    return colored(m, element("circle", { cx: from, cy: y, r: 4 })) + text;
  });
  const heading = label(6, 12, title, { "text-anchor": "start", "font-weight": 600 });
  const width = Math.ceil(Math.max(SIDE, x));
  return {
    title,
    width,
    height: TOP + SIDE + LEGEND,
    body: [...groups, ...legend, heading].join(""),
  };
}

function viewed([x, y, z]: readonly [number, number, number]) {
  const across = x * Math.cos(TURN) + z * Math.sin(TURN);
  const away = z * Math.cos(TURN) - x * Math.sin(TURN);
  return {
    x: across,
    y: y * Math.cos(TILT) - away * Math.sin(TILT),
    depth: away * Math.cos(TILT) + y * Math.sin(TILT),
  };
}
