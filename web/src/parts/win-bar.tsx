/** How likely a voter prefers a to b: as it was when it was decided, and as it is now. */
export function WinBar({
  a,
  b,
  before,
  after,
  since,
}: {
  a: string;
  b: string;
  before: number;
  after: number | undefined;
  /** "Since your vote": others may have voted meanwhile. */
  since: string;
}) {
  const shown = after ?? before;
  const hasMoved = exact(shown) !== exact(before);
  return (
    <div class="flex flex-col gap-2">
      <div class="flex justify-between gap-4 text-sm tabular-nums">
        <Side name={a} share={shown} before={hasMoved ? before : undefined} />
        <Side name={b} share={1 - shown} before={hasMoved ? 1 - before : undefined} isRight />
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
          ? "How likely Joust thinks that either is preferred here."
          : hasMoved
            ? `${since} the router leans ${points(shown - before)} more to ${shown > before ? a : b}: how likely either is preferred here, before and after.`
            : `${since} the router has not moved: how likely either is preferred here.`}
      </p>
    </div>
  );
}

function Side({
  name,
  share,
  before,
  isRight = false,
}: {
  name: string;
  share: number;
  before: number | undefined;
  isRight?: boolean;
}) {
  return (
    <div class={`min-w-0 flex-1 ${isRight ? "text-right" : ""}`}>
      <div class="truncate" title={name}>
        {name}
      </div>
      <div>
        {before !== undefined && (
          <span class="text-muted">
            {exact(before)} <span aria-hidden="true">{"\u2192"}</span>
            <span class="sr-only">, now</span>{" "}
          </span>
        )}
        <strong class="text-lg">{exact(share)}</strong>
      </div>
    </div>
  );
}

/** A single vote moves little; one digit more shows that it does. */
function exact(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

function points(change: number): string {
  const text = (100 * Math.abs(change)).toFixed(1);
  return `${text} ${text === "1.0" ? "point" : "points"}`;
}
