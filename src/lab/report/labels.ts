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
