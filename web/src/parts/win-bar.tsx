/** The probability that a voter prefers model a to model b, at the time of the decision and now. */
export function WinBar({
  a,
  b,
  before,
  after,
  since,
  pick,
}: {
  a: string;
  b: string;
  before: number;
  after: number | undefined;
  /** Start of the sentence about the change, such as "Since your vote": other votes may have contributed. */
  since: string;
  /** The model that the person preferred. The bar grows from its side. */
  pick?: "a" | "b" | undefined;
}) {
  const shown = after ?? before;
  const hasMoved = exact(shown) !== exact(before);
  return (
    <div class="flex flex-col gap-2">
      <p class="text-sm text-muted">
        Estimated probability that each model is preferred for this prompt:
      </p>
      <div class="flex justify-between gap-4 text-sm tabular-nums">
        <Side name={a} share={shown} before={hasMoved ? before : undefined} isPick={pick === "a"} />
        <Side
          name={b}
          share={1 - shown}
          before={hasMoved ? 1 - before : undefined}
          isPick={pick === "b"}
          isRight
        />
      </div>
      <div class="relative h-3 rounded-full bg-sunken" aria-hidden="true">
        <div
          class={`h-full rounded-full bg-accent transition-[width] duration-700 ${pick === "b" ? "ml-auto" : ""}`}
          style={{ width: `${100 * (pick === "b" ? 1 - shown : shown)}%` }}
        />
        <div
          class="absolute -top-1 h-5 w-0.5 bg-ink"
          style={{ left: `calc(${100 * before}% - 1px)` }}
        />
      </div>
      {after !== undefined && (
        <p class="text-sm text-muted">
          {hasMoved
            ? `${since}, the estimate for ${shown > before ? a : b} rose by ${points(shown - before)}.`
            : `${since}, the estimate has not changed.`}
        </p>
      )}
    </div>
  );
}

function Side({
  name,
  share,
  before,
  isPick,
  isRight = false,
}: {
  name: string;
  share: number;
  before: number | undefined;
  isPick: boolean;
  isRight?: boolean;
}) {
  return (
    <div class={`min-w-0 flex-1 ${isRight ? "text-right" : ""}`}>
      <div class="truncate" title={name}>
        {isPick && !isRight && <Pick arrow={"\u25c0"} />}
        {name}
        {isPick && isRight && <Pick arrow={"\u25b6"} />}
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

/** Points to the side of the person's choice. */
function Pick({ arrow }: { arrow: string }) {
  return (
    <span class="px-1 text-accent">
      <span aria-hidden="true">{arrow}</span>
      <span class="sr-only">your choice</span>
    </span>
  );
}

/** Formats a share with one decimal place, because a single vote changes little. */
function exact(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

function points(change: number): string {
  const text = (100 * Math.abs(change)).toFixed(1);
  return `${text} ${text === "1.0" ? "point" : "points"}`;
}
