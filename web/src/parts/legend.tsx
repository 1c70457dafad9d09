/** The names that belong to the colours of a chart. */
export function Legend({
  entries,
}: {
  entries: readonly { readonly name: string; readonly colour: string }[];
}) {
  return (
    <ul class="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {entries.map(({ name, colour }) => (
        <li key={name} class="flex items-center gap-1.5">
          <span class="size-2.5 rounded-full" style={{ background: colour }} aria-hidden="true" />
          {name}
        </li>
      ))}
    </ul>
  );
}
