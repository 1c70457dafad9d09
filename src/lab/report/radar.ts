import * as Plot from "@observablehq/plot";
import { drawCompact, INK, PALETTE } from "./svg.ts";

export interface Radar {
  readonly title: string;
  readonly axes: readonly string[];
  /** For each model a number from 0 to 1 per axis. */
  readonly models: readonly { readonly name: string; readonly values: readonly number[] }[];
}

const RADIUS = 62;
const CELL = { width: 232, height: 188 };
const COLUMNS = 5;

/** One Kiviat diagram per model, so that none hides another. */
export function radarSvg({ title, axes, models }: Radar): string {
  const centres = models.map((model, i) => ({
    ...model,
    color: PALETTE[i % PALETTE.length]!,
    x: (i % COLUMNS) * CELL.width + CELL.width / 2,
    y: Math.floor(i / COLUMNS) * CELL.height + CELL.height / 2 + 10,
  }));
  const angle = (axis: number) => (2 * Math.PI * axis) / axes.length - Math.PI / 2;
  const at = (centre: { x: number; y: number }, axis: number, share: number) => ({
    x: centre.x + Math.cos(angle(axis)) * share * RADIUS,
    y: centre.y + Math.sin(angle(axis)) * share * RADIUS,
  });
  const ring = (centre: { x: number; y: number }, share: (axis: number) => number) =>
    [...axes.keys(), 0].map((axis) => at(centre, axis, share(axis)));
  const names = centres.flatMap((centre) =>
    axes.map((name, axis) => ({ ...at(centre, axis, 1.12), name, side: Math.cos(angle(axis)) })),
  );
  type Name = (typeof names)[number];
  const anchored = (anchor: "start" | "middle" | "end", of: (side: number) => boolean) =>
    Plot.text(
      names.filter(({ side }) => of(side)),
      {
        x: "x",
        y: "y",
        text: (d: Name) => d.name,
        textAnchor: anchor,
        fontSize: 9,
        fill: "#555555",
      },
    );
  return drawCompact(title, {
    width: Math.min(COLUMNS, models.length) * CELL.width,
    height: Math.ceil(models.length / COLUMNS) * CELL.height + 10,
    margin: 0,
    x: { type: "identity", axis: null },
    y: { type: "identity", axis: null },
    marks: [
      ...centres.flatMap((centre) => [
        ...[0.25, 0.5, 0.75, 1].map((share) =>
          Plot.line(
            ring(centre, () => share),
            { x: "x", y: "y", stroke: INK, strokeOpacity: 0.15 },
          ),
        ),
        ...axes.map((_, axis) =>
          Plot.line([centre, at(centre, axis, 1)], {
            x: "x",
            y: "y",
            stroke: INK,
            strokeOpacity: 0.15,
          }),
        ),
        Plot.line(
          ring(centre, (axis) => centre.values[axis]!),
          {
            x: "x",
            y: "y",
            stroke: centre.color,
            strokeWidth: 1.8,
            fill: centre.color,
            fillOpacity: 0.18,
          },
        ),
        Plot.text([centre], {
          x: "x",
          y: centre.y - RADIUS - 22,
          text: "name",
          fontWeight: "600",
          fontSize: 11,
        }),
      ]),
      anchored("start", (side) => side > 0.2),
      anchored("end", (side) => side < -0.2),
      anchored("middle", (side) => Math.abs(side) <= 0.2),
    ],
  });
}
