import { percent } from "../format.ts";

/** How likely a voter prefers a to b: as it was when it was decided, and as it is now. */
export function WinBar({
  a,
  b,
  before,
  after,
}: {
  a: string;
  b: string;
  before: number;
  after: number | undefined;
}) {
  const shown = after ?? before;
  return (
    <div class="flex flex-col gap-1.5">
      <div class="flex justify-between gap-4 text-sm tabular-nums">
        <span>
          {a} <strong>{percent(shown)}</strong>
        </span>
        <span class="text-right">
          <strong>{percent(1 - shown)}</strong> {b}
        </span>
      </div>
      <div class="relative h-3 rounded-full bg-sunken" aria-hidden="true">
        <div
          class="h-full rounded-full bg-accent transition-[width] duration-700"
          style={{ width: `${100 * shown}%` }}
        />
        <div
          class="absolute -top-1 h-5 w-0.5 bg-ink"
          style={{ left: `calc(${100 * before}% - 1px)` }}
        />
      </div>
      <p class="text-sm text-muted">
        {after === undefined
          ? `When it was decided, Joust expected ${a} to be preferred with ${percent(before)}.`
          : `Joust expected ${a} to be preferred with ${exact(before)}; by now, with ${exact(after)}.`}
      </p>
    </div>
  );
}

/** A single vote moves little; one digit more shows that it does. */
function exact(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}
