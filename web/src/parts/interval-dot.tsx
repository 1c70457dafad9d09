import type { ComponentChildren } from "preact";

/** An estimate drawn as a dot on a line with a mark at zero, with its interval if it has one. */
export function IntervalDot({
  at,
  value,
  band,
  colour,
  children,
}: {
  /** Maps a value to its position as a share of the width, for example "40%". */
  at: (value: number) => string;
  value: number | undefined;
  band: readonly [number, number] | undefined;
  colour: string;
  children?: ComponentChildren;
}) {
  return (
    <div class="relative h-5" aria-hidden="true">
      <div class="absolute inset-y-0 w-px bg-line" style={{ left: at(0) }} />
      {band && (
        <div
          class="absolute top-1/2 h-1.5 -translate-y-1/2 rounded-full opacity-35"
          style={{
            left: at(band[0]),
            width: `calc(${at(band[1])} - ${at(band[0])})`,
            background: colour,
          }}
        />
      )}
      {value !== undefined && (
        <div
          class="absolute top-1/2 size-3 -translate-1/2 rounded-full"
          style={{ left: at(value), background: colour }}
        />
      )}
      {children}
    </div>
  );
}
