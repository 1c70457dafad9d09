import { type Color, colored, element, label, type Picture, path } from "./svg.ts";

export interface Radar {
  readonly name: string;
  /** A number from 0 to 1 for each axis. */
  readonly values: ReadonlyMap<string, number>;
  readonly color: Color;
}

const RADIUS = 62;
const SIZE = { width: 236, height: 196 };
const CENTRE = { x: SIZE.width / 2, y: SIZE.height / 2 + 12 };

/** A Kiviat diagram with rings at 0.25, 0.5, 0.75 and 1. */
export function radarPicture({ name, values, color }: Radar): Picture {
  const axes = [...values.keys()];
  const at = (axis: number, share: number) => {
    const angle = (2 * Math.PI * axis) / axes.length - Math.PI / 2;
    const reach = share * RADIUS;
    return [CENTRE.x + Math.cos(angle) * reach, CENTRE.y + Math.sin(angle) * reach] as const;
  };
  const ring = (share: (axis: string) => number) =>
    `${path(axes.map((axis, i) => at(i, share(axis))))}z`;
  const names = axes.map((axis, i) => {
    const [x, y] = at(i, 1.12);
    const anchor = x > CENTRE.x + 12 ? "start" : x < CENTRE.x - 12 ? "end" : undefined;
    return label(x, y, axis, { "text-anchor": anchor, "font-size": 9, "fill-opacity": ".75" });
  });
  const lines = [
    ...[0.25, 0.5, 0.75, 1].map((share) => element("path", { d: ring(() => share) })),
    ...axes.map((_, i) => element("path", { d: path([at(i, 0), at(i, 1)]) })),
  ];
  const body = [
    element("g", { fill: "none", stroke: "currentColor", "stroke-opacity": ".18" }, ...lines),
    colored(
      color,
      element("path", {
        d: ring((axis) => values.get(axis)!),
        stroke: "currentColor",
        "stroke-width": 1.8,
        "fill-opacity": ".18",
      }),
    ),
    ...names,
    label(CENTRE.x, 10, name, { "font-weight": 600 }),
  ];
  return { title: name, ...SIZE, body: body.join("") };
}
