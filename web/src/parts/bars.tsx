/** Amounts as horizontal bars, each with its name and its value. */
export function Bars({
  bars,
  label,
}: {
  bars: readonly {
    readonly name: string;
    readonly value: number;
    readonly text: string;
    readonly colour: string;
  }[];
  label: string;
}) {
  const most = Math.max(1e-12, ...bars.map(({ value }) => value));
  return (
    <ul class="flex flex-col gap-3 text-sm" aria-label={label}>
      {bars.map(({ name, value, text, colour }) => (
        <li key={name} class="flex flex-col gap-1">
          <span class="flex justify-between gap-3">
            <span class="min-w-0 break-words">{name}</span> <span class="tabular-nums">{text}</span>
          </span>
          <span class="h-3 rounded-full bg-sunken" aria-hidden="true">
            <span
              class="block h-full min-w-1 rounded-full"
              style={{ width: `${(100 * value) / most}%`, background: colour }}
            />
          </span>
        </li>
      ))}
    </ul>
  );
}
