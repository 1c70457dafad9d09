import { useId } from "preact/hooks";
import type { ChoiceProps } from "./choice.ts";

/** Radio buttons drawn as one segmented control, for a few options. */
export function Segmented<T extends string>({ label, options, value, onChange }: ChoiceProps<T>) {
  const name = useId();
  return (
    <fieldset class="inline-flex flex-wrap rounded-lg bg-sunken p-0.5">
      <legend class="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          class="relative cursor-pointer rounded-md px-2.5 py-1.5 text-sm sm:px-3 text-muted has-checked:bg-lifted has-checked:text-ink has-checked:shadow-sm has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name={name}
            class="absolute inset-0 cursor-pointer opacity-0"
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          {option.text}
          {option.detail !== undefined && <span class="max-sm:sr-only"> {option.detail}</span>}
        </label>
      ))}
    </fieldset>
  );
}
