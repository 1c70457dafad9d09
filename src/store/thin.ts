/**
 * Which snapshots may go. Kept are the newest, those that the log needs
 * (`horizon`), and to roll back to the first of each hour of the last two days
 * and the first of each day before.
 */
export function superfluous(
  snapshots: readonly { readonly position: number; readonly at: number }[],
  now: number,
  horizon: number,
): number[] {
  const sorted = [...snapshots].sort((a, b) => a.position - b.position);
  const newest = sorted.at(-1)?.position;
  const seen = new Set<number>();
  const gone: number[] = [];
  for (const { position, at } of sorted) {
    const span = now - at < 2 * DAY ? HOUR : DAY;
    const first = Math.floor(at / span) * span;
    const kept = position === newest || position === horizon || !seen.has(first);
    seen.add(first);
    if (!kept) gone.push(position);
  }
  return gone;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
