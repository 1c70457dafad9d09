import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import "./data-table.css";

export interface Column {
  readonly name: string;
  readonly isNumber?: boolean;
  /** Explanation with the unit, shown when the pointer is over the name. */
  readonly hint?: string;
  /** Whether only screen readers get the name. */
  readonly isHidden?: boolean;
  /** Whether there is space before the text, because a number precedes it. */
  readonly isSpaced?: boolean;
}

/**
 * A table with a header. `children` are its rows. On a narrow screen each row becomes a block that names its values,
 * unless the table is small enough to fit.
 */
export function DataTable({
  label,
  columns,
  isSmall = false,
  class: extra = "",
  children,
}: {
  label: string;
  columns: readonly Column[];
  isSmall?: boolean;
  class?: string;
  children: ComponentChildren;
}) {
  const explained = columns.filter(({ hint }) => hint !== undefined);
  const body = useRef<HTMLTableSectionElement>(null);
  // The style sheet shows these names above the values of a block.
  useLayoutEffect(() => {
    for (const row of body.current?.rows ?? []) {
      for (const [i, { name, isHidden }] of columns.entries()) {
        row.cells[i]?.setAttribute("data-label", isHidden ? "" : name);
      }
    }
  });
  return (
    <div class="flex min-w-0 flex-col gap-2">
      <section class="data-table relative overflow-x-auto" aria-label={label} tabIndex={0}>
        <table class={`w-full text-sm ${isSmall ? "" : "has-blocks"} ${extra}`}>
          <thead>
            <tr class="text-xs text-muted">
              {columns.map(({ name, isNumber, isHidden, isSpaced, hint }) => (
                <th
                  key={name}
                  scope="col"
                  class={`pb-1 font-normal ${isNumber ? "pl-3 text-right" : isSpaced ? "pl-4 text-left" : "text-left"}`}
                >
                  {isHidden ? (
                    <span class="sr-only">{name}</span>
                  ) : hint ? (
                    <abbr title={hint} class="no-underline">
                      {name}
                    </abbr>
                  ) : (
                    name
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>{children}</tbody>
        </table>
      </section>
      {explained.length > 0 && (
        <details class="text-xs text-muted">
          <summary class="w-fit py-1 hover:text-ink">Columns explained</summary>
          <dl class="mt-1 grid gap-x-6 gap-y-1 sm:grid-cols-2">
            {explained.map(({ name, hint }) => (
              <div key={name}>
                <dt class="inline font-medium text-ink">{name}:</dt> <dd class="inline">{hint}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}
