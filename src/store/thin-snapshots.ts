/**
 * Positions of the snapshots that can be deleted. The newest snapshot, the snapshot at
 * the horizon, the first of each hour of the last two days and the first of each earlier
 * day are kept.
 */
export function snapshotsToDelete(
  snapshots: readonly { readonly position: number; readonly at: number }[],
  now: number,
  horizon: number,
): number[] {
  const sorted = [...snapshots].sort((a, b) => a.position - b.position);
  const newest = sorted.at(-1)?.position;
  const periods = new Set<number>();
  const deletable: number[] = [];
  for (const { position, at } of sorted) {
    const length = now - at < 2 * DAY ? HOUR : DAY;
    const period = Math.floor(at / length) * length;
    const isKept = position === newest || position === horizon || !periods.has(period);
    periods.add(period);
    if (!isKept) deletable.push(position);
  }
  return deletable;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
