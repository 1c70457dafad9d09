import type { ComponentChildren } from "preact";

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

/** A table with a header that scrolls horizontally on narrow screens. `children` are its rows. */
export function DataTable({
  label,
  columns,
  class: extra,
  children,
}: {
  label: string;
  columns: readonly Column[];
  class: string;
  children: ComponentChildren;
}) {
  const explained = columns.filter(({ hint }) => hint !== undefined);
  return (
    <div class="flex min-w-0 flex-col gap-2">
      <section class="relative overflow-x-auto" aria-label={label} tabIndex={0}>
        <table class={`w-full text-sm ${extra}`}>
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
          <tbody>{children}</tbody>
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
