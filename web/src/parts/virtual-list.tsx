import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** A list that renders only the rows in view, so that it may be very long. All rows have the same height. */
export function VirtualList<T extends { readonly id: string }>({
  rows,
  rowHeight,
  height,
  label,
  render,
  onNearEnd,
}: {
  rows: readonly T[];
  rowHeight: number;
  height: number;
  label: string;
  render: (row: T) => ComponentChildren;
  onNearEnd: () => void;
}) {
  const box = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const { first, last } = inView(top, height, rowHeight, rows.length);

  // Keeps the rows that are being read in place when new rows are added above them.
  const newest = useRef(rows[0]?.id);
  useLayoutEffect(() => {
    const added = rows.findIndex(({ id }) => id === newest.current);
    newest.current = rows[0]?.id;
    if (added > 0 && box.current && box.current.scrollTop > rowHeight / 2) {
      box.current.scrollTop += added * rowHeight;
    }
  }, [rows]);

  const isNearEnd = last >= rows.length - NEAR;
  useEffect(() => {
    if (isNearEnd) onNearEnd();
  }, [isNearEnd, rows.length]);

  return (
    <section
      ref={box}
      aria-label={label}
      tabIndex={0}
      class="overflow-y-auto overscroll-contain"
      style={{ height: `${height}px` }}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <ol class="relative" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((row, i) => (
          <li
            key={row.id}
            aria-posinset={first + i + 1}
            aria-setsize={rows.length}
            class="absolute inset-x-0"
            style={{
              height: `${rowHeight}px`,
              transform: `translateY(${(first + i) * rowHeight}px)`,
            }}
          >
            {render(row)}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Rows rendered beyond both edges, so that scrolling shows no gaps. */
const BEYOND = 8;
/** Distance to the end, in rows, at which more rows are requested. */
const NEAR = 60;

/** The rows to render: from `first` up to but not including `last`. */
export function inView(
  top: number,
  height: number,
  rowHeight: number,
  count: number,
): { first: number; last: number } {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight)) - BEYOND);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + BEYOND);
  return { first, last: Math.max(first, last) };
}
