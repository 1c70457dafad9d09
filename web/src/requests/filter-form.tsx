import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { joust } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import { useRead } from "../page/use-read.ts";
import { Button } from "../parts/button.tsx";
import { INPUT } from "../parts/field.tsx";
import { useValue } from "../state/observable.ts";
import { FIELDS, type Filter } from "./filter.ts";

const OUTCOMES = [
  ["ok", "Answered"],
  ["failed", "Failed"],
  ["cancelled", "Stopped by the client"],
  ["fallback", "Answered after a fallback"],
] as const;

const VOTES = [
  ["any", "Voted on"],
  ["none", "Not voted on"],
  ["first", "First answer preferred"],
  ["second", "Second answer preferred"],
  ["tie", "Tie"],
  ["both_bad", "Both bad"],
  ["good", "Rated good"],
  ["bad", "Rated bad"],
  ["comment", "Commented"],
] as const;

const SPANS = [
  ["1", "Last hour"],
  ["24", "Last 24 hours"],
  ["168", "Last 7 days"],
  ["720", "Last 30 days"],
  ["custom", "From … to …"],
] as const;

/**
 * The conditions of a search. A change takes effect at once; in a text field, on Enter or when the field loses the
 * focus.
 */
export function FilterForm({
  filter,
  onChange,
}: {
  filter: Filter;
  onChange: (filter: Filter) => void;
}) {
  const serving = useValue(usePage().serving);
  // Empty without the permission to list them.
  const keys = useRead(() => joust.keys()).data?.data ?? [];
  const read = (form: HTMLFormElement) => {
    const data = new FormData(form);
    const entries = FIELDS.map((name) => [name, String(data.get(name) ?? "").trim()]);
    onChange(Object.fromEntries(entries.filter(([, value]) => value !== "")) as Filter);
  };
  const isChanged = Object.keys(filter).length > 0;
  return (
    <form
      aria-label="Search requests"
      class="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-4"
      onChange={(event) => read(event.currentTarget)}
      onSubmit={(event) => {
        event.preventDefault();
        read(event.currentTarget);
      }}
    >
      <Field label="Text of a prompt that is stored in the clear" class="col-span-2">
        {(id) => <Input id={id} type="search" name="text" text={filter.text} />}
      </Field>
      <Choice label="Time" name="hours" filter={filter} any="Any time" options={SPANS} />
      <Choice label="Outcome" name="outcome" filter={filter} any="Any outcome" options={OUTCOMES} />
      {filter.hours === "custom" && (
        <>
          <Field label="From" class="max-sm:col-span-2">
            {(id) => <Input id={id} type="datetime-local" name="from" text={filter.from} />}
          </Field>
          <Field label="To" class="max-sm:col-span-2">
            {(id) => <Input id={id} type="datetime-local" name="to" text={filter.to} />}
          </Field>
        </>
      )}
      <Choice
        label="Router"
        name="router"
        filter={filter}
        any="Any router"
        options={(serving?.routers ?? []).map((name) => [name, name])}
      />
      <Choice
        label="Model"
        name="model"
        filter={filter}
        any="Any model"
        options={(serving?.models ?? []).map(({ id }) => [id, id])}
      />
      <Choice label="Votes" name="vote" filter={filter} any="Any votes" options={VOTES} />
      {keys.length > 0 && (
        <Choice
          label="API key"
          name="key"
          filter={filter}
          any="Any key"
          options={keys.map(({ id, name }) => [id, `${name} (${id})`])}
        />
      )}
      <Range label="Cost in US dollars" low="min_cost" high="max_cost" filter={filter} />
      <Range label="Duration in seconds" low="min_seconds" high="max_seconds" filter={filter} />
      <Field label="Session id" class="max-sm:col-span-2">
        {(id) => <Input id={id} name="session_id" text={filter.session_id} />}
      </Field>
      {isChanged && (
        <div class="flex items-end">
          <Button onClick={() => onChange({})}>Clear</Button>
        </div>
      )}
    </form>
  );
}

const BOX = `${INPUT} text-sm`;

function Field({
  label,
  class: extra = "",
  children,
}: {
  label: string;
  class?: string;
  /** Renders the control with the id that the label refers to. */
  children: (id: string) => ComponentChildren;
}) {
  const id = useId();
  return (
    <div class={`flex min-w-0 flex-col gap-1 text-xs text-muted ${extra}`}>
      <label for={id}>{label}</label>
      {children(id)}
    </div>
  );
}

/** A field whose text stays as it was typed until its own condition changes. */
function Input({
  text = "",
  ...rest
}: {
  name: keyof Filter;
  text?: string | undefined;
  id?: string;
  type?: "search" | "datetime-local" | "number";
  placeholder?: string;
  "aria-label"?: string;
}) {
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.value = text;
  }, [text]);
  return <input {...(rest as object)} min="0" step="any" ref={box} class={BOX} />;
}

function Choice({
  label,
  name,
  filter,
  any,
  options,
}: {
  label: string;
  name: keyof Filter;
  filter: Filter;
  any: string;
  options: readonly (readonly [value: string, text: string])[];
}) {
  const chosen = filter[name] ?? "";
  // A link may name a router or model that is no longer configured.
  const isKnown = chosen === "" || options.some(([value]) => value === chosen);
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} name={name} value={chosen} class={BOX}>
          <option value="">{any}</option>
          {!isKnown && <option value={chosen}>{chosen}</option>}
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Range({
  label,
  low,
  high,
  filter,
}: {
  label: string;
  low: keyof Filter;
  high: keyof Filter;
  filter: Filter;
}) {
  return (
    <fieldset class="min-w-0 max-sm:col-span-2">
      <legend class="mb-1 text-xs text-muted">{label}</legend>
      <div class="flex gap-1.5">
        {(
          [
            [low, "at least"],
            [high, "at most"],
          ] as const
        ).map(([name, limit]) => (
          <Input
            key={name}
            type="number"
            name={name}
            text={filter[name]}
            placeholder={limit}
            aria-label={`${label}, ${limit}`}
          />
        ))}
      </div>
    </fieldset>
  );
}
