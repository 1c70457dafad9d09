import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** Classes of a field. */
export const INPUT =
  "min-h-10 w-full min-w-0 rounded-lg border border-strong bg-page px-3 text-ink disabled:border-line disabled:text-muted";

/** A label above a control, with an explanation below it. `children` gets the id of the control. */
export function Labelled({
  label,
  about,
  class: extra = "",
  children,
}: {
  label: string;
  about?: ComponentChildren;
  class?: string;
  children: (id: string) => ComponentChildren;
}) {
  const id = useId();
  return (
    <div class={`flex min-w-0 flex-col gap-1 text-sm ${extra}`}>
      <label for={id} class="font-medium">
        {label}
      </label>
      {children(id)}
      {about && (
        <p id={`${id}-about`} class="text-muted">
          {about}
        </p>
      )}
    </div>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly about?: ComponentChildren;
  readonly disabled?: boolean | undefined;
}

export function TextField({
  label,
  value,
  onChange,
  about,
  type = "text",
  ...rest
}: FieldProps & {
  type?: "text" | "password" | "number" | "datetime-local";
  placeholder?: string | undefined;
  min?: number;
  max?: number;
  required?: boolean;
  pattern?: string;
}) {
  return (
    <Labelled label={label} about={about}>
      {(id) => (
        <input
          id={id}
          type={type as "text"}
          step="any"
          autocomplete="off"
          aria-describedby={about ? `${id}-about` : undefined}
          spellcheck={false}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
          class={`${INPUT} ${type === "password" ? "font-mono" : ""}`}
          {...(rest as object)}
        />
      )}
    </Labelled>
  );
}

/** A field for a number from 0 up. */
export function NumberField({ min = 0, ...rest }: Omit<Parameters<typeof TextField>[0], "type">) {
  return <TextField type="number" min={min} {...rest} />;
}

export function SelectField<T extends string>({
  label,
  value,
  options,
  onChange,
  about,
  disabled = false,
}: Omit<FieldProps, "value" | "onChange"> & {
  value: T;
  options: readonly { readonly value: T; readonly text: string; readonly disabled?: boolean }[];
  onChange: (value: T) => void;
}) {
  return (
    <Labelled label={label} about={about}>
      {(id) => (
        <select
          id={id}
          value={value}
          disabled={disabled}
          aria-describedby={about ? `${id}-about` : undefined}
          onChange={(event) => onChange(event.currentTarget.value as T)}
          class={INPUT}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value} disabled={option.disabled}>
              {option.text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

export function CheckField({
  label,
  value,
  onChange,
  about,
  disabled = false,
}: {
  label: string;
  value: boolean;
  onChange: (value: boolean) => void;
  about?: ComponentChildren;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div class="flex min-h-10 items-start gap-2.5 py-2 text-sm">
      <input
        id={id}
        type="checkbox"
        aria-describedby={about ? `${id}-about` : undefined}
        checked={value}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
        class="mt-0.5 size-4 shrink-0 accent-(--accent)"
      />
      <div class="min-w-0">
        <label for={id} class="block">
          {label}
        </label>
        {about && (
          <p id={`${id}-about`} class="text-muted">
            {about}
          </p>
        )}
      </div>
    </div>
  );
}

/** Check boxes for any number of names. */
export function NamesField({
  label,
  names,
  about = {},
  value,
  onChange,
  disabled = false,
}: {
  label: string;
  names: readonly string[];
  /** Explanations of names. */
  about?: Readonly<Record<string, string>>;
  value: readonly string[];
  onChange: (value: readonly string[]) => void;
  disabled?: boolean;
}) {
  return (
    <fieldset class="min-w-0 text-sm">
      <legend class="font-medium">{label}</legend>
      <div class="grid gap-x-6 sm:grid-cols-2">
        {names.map((name) => (
          <CheckField
            key={name}
            label={name}
            about={about[name]}
            disabled={disabled}
            value={value.includes(name)}
            onChange={(isChecked) =>
              onChange(names.filter((one) => (one === name ? isChecked : value.includes(one))))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
