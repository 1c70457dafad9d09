import type { ChoiceProps } from "./choice.ts";

/** The browser's own select control, for many options. */
export function Select<T extends string>({ label, options, value, onChange }: ChoiceProps<T>) {
  return (
    <label class="flex max-w-full min-w-0 items-center gap-2 text-sm text-muted">
      <span class="sr-only">{label}</span>
      <select
        value={value}
        onChange={(event) => onChange(event.currentTarget.value as T)}
        class="min-h-9 max-w-60 min-w-0 rounded-lg border border-line bg-surface px-2.5 text-ink"
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}
