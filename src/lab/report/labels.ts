/** Positions of labels that do not cover each other, in pixels with y downwards. */

/** Approximate width of a text in any system font. */
export function textWidth(text: string, fontSize: number): number {
  return [...text].length * fontSize * 0.6;
}

/** Shortens a long name in the middle, because its start and end tell policies apart. */
export function shorten(name: string, length = 44): string {
  const characters = [...name];
  if (characters.length <= length) return name;
  const head = Math.ceil((length - 1) / 2);
  return `${characters.slice(0, head).join("")}\u2026${characters.slice(head + 1 - length).join("")}`;
}

/**
 * Centers y_i of stacked labels of the given heights, as near to the wanted centers as is
 * possible without overlap:
 *   min sum (y_i - wanted_i)^2  with  y_{i+1} - y_i >= (h_i + h_{i+1}) / 2.
 * Minus the offsets o_i of a tight stack this is isotonic regression. It is solved by pooling
 * neighbours that violate the order; clipping to the bounds keeps it optimal. `wanted` must
 * be sorted.
 */
export function dodge(
  wanted: readonly number[],
  heights: readonly number[],
  top: number,
  bottom: number,
): number[] {
  const offsets: number[] = [];
  let total = 0;
  for (const height of heights) {
    offsets.push(total + height / 2);
    total += height;
  }
  const pools: { sum: number; count: number }[] = [];
  wanted.forEach((y, i) => {
    let pool = { sum: y - offsets[i]!, count: 1 };
    for (let last = pools.at(-1); last && meanOf(last) > meanOf(pool); last = pools.at(-1)) {
      pool = { sum: pool.sum + last.sum, count: pool.count + last.count };
      pools.pop();
    }
    pools.push(pool);
  });
  const shifts = pools.flatMap((pool) => Array<number>(pool.count).fill(meanOf(pool)));
  const limit = Math.max(top, bottom - total);
  return shifts.map((shift, i) => Math.min(limit, Math.max(top, shift)) + offsets[i]!);
}

function meanOf(pool: { sum: number; count: number }): number {
  return pool.sum / pool.count;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** A point and the size of its label. */
export interface LabelledSpot extends Spot {
  readonly width: number;
  readonly height: number;
}

/** A label beside its point: its box, and the end that is nearest to the point. */
export interface Placed {
  readonly box: Box;
  readonly at: Spot;
  readonly anchor: "start" | "middle" | "end";
  /** Small boxes along the line to its point; empty if the label is so near that it needs no line. */
  readonly line: readonly Box[];
}

/**
 * A place for the label of each point. Of the places around the point and within `bounds` it
 * is the one that hides least, then the nearest, the right side first. Covering another label
 * is worst, then covering an obstacle, then crossing a line. Labels are placed one by one,
 * three times over, so that the first can make room for the last.
 */
export function placeAround(
  points: readonly LabelledSpot[],
  bounds: Box,
  obstacles: readonly Box[],
): Placed[] {
  const choices = points.map((point) => {
    const places = around(point, Math.ceil((2 * bounds.height) / point.height));
    const inside = places.filter(({ box }) => within(box, bounds));
    return inside.length > 0 ? inside : places.slice(0, 1);
  });
  const placed = new Map<number, Placed>();
  for (let sweep = 0; sweep < 3; sweep++) {
    choices.forEach((places, i) => {
      placed.delete(i);
      const labels = [...placed.values()].map(({ box }) => box);
      const lines = [...placed.values()].flatMap(({ line }) => line);
      let least = Infinity;
      places.forEach((place, distance) => {
        let cost = distance + 1e6 * hits(place.box, labels);
        if (cost < least) cost += 1e4 * hits(place.box, obstacles) + 50 * hits(place.box, lines);
        for (const dot of place.line) {
          if (cost < least) cost += 50 * (hits(dot, labels) + hits(dot, lines));
        }
        if (cost >= least) return;
        least = cost;
        placed.set(i, place);
      });
    });
  }
  return points.map((_, i) => placed.get(i)!);
}

export function overlap(a: Box, b: Box): boolean {
  return (
    a.left < b.left + b.width &&
    b.left < a.left + a.width &&
    a.top < b.top + b.height &&
    b.top < a.top + a.height
  );
}

function hits(box: Box, others: readonly Box[]): number {
  let count = 0;
  for (const other of others) if (overlap(box, other)) count++;
  return count;
}

const CLEARANCE = 7; // from a point's center to its label

/** Places, the nearest first: rows above and below, right and left of the point, then centered. */
function around(point: LabelledSpot, rings: number): Placed[] {
  const { x, y, width, height } = point;
  const places: Placed[] = [];
  for (let ring = 0; ring <= rings; ring++) {
    for (const side of ring === 0 ? [0] : [-ring, ring]) {
      const middle = y + (side * height) / 2;
      const add = (shift: number, anchor: Placed["anchor"], left: number) => {
        const at = { x: x + shift, y: middle };
        const box = { left: at.x + left, top: middle - height / 2, width, height };
        places.push({ box, at, anchor, line: ring > 2 ? dotsBetween(point, at) : [] });
      };
      for (const shift of ring > 2 ? [CLEARANCE, 4 * CLEARANCE] : [CLEARANCE]) {
        add(shift, "start", 0);
        add(-shift, "end", -width);
      }
      if (ring >= 2) add(0, "middle", -width / 2);
    }
  }
  return places;
}

function dotsBetween(from: Spot, to: Spot): Box[] {
  return Array.from({ length: 11 }, (_, i) => ({
    left: from.x + ((to.x - from.x) * i) / 12 - 1,
    top: from.y + ((to.y - from.y) * i) / 12 - 1,
    width: 2,
    height: 2,
  }));
}

function within(box: Box, bounds: Box): boolean {
  return (
    box.left >= bounds.left &&
    box.top >= bounds.top &&
    box.left + box.width <= bounds.left + bounds.width &&
    box.top + box.height <= bounds.top + bounds.height
  );
}
