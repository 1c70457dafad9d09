import { useEffect, useState } from "preact/hooks";
import { usePage } from "../page/page.ts";
import type { ArenaSettings } from "../page/settings.ts";
import { Button } from "../parts/button.tsx";
import { INPUT, Labelled, NumberField, SelectField } from "../parts/field.tsx";
import { useValue } from "../state/observable.ts";
import { count } from "../text/format.ts";

/** Options of the next questions: the models that answer, the system prompt and parameters. */
export function Options({ router, id }: { router: string; id: string }) {
  const { settings, serving } = usePage();
  const set = useValue(settings);
  const pool = useValue(serving)?.pools.get(router) ?? [];
  const change = (part: Partial<ArenaSettings>) => settings.set({ ...set, ...part });
  const slots = set.isDuel ? [0, 1] : [0];
  const names = set.isDuel ? ["First model", "Second model"] : ["Model"];
  const choose = (slot: number, model: string) => {
    const models = slots.map((i) => (i === slot ? model || undefined : set.models[i]));
    change({ models });
  };
  return (
    <section
      id={id}
      aria-label="Options"
      class="grid items-start gap-x-4 gap-y-3 border-t border-line px-4 py-3 sm:grid-cols-2"
    >
      {slots.map((slot) => (
        <SelectField
          key={slot}
          label={names[slot]!}
          value={set.models[slot] ?? ""}
          onChange={(model) => choose(slot, model)}
          options={[
            { value: "", text: "Joust chooses" },
            ...pool.map((model) => ({
              value: model,
              text: model,
              disabled: set.isDuel && set.models[1 - slot] === model,
            })),
          ]}
        />
      ))}
      <NumberOption
        label="Temperature, 0 to 2"
        value={set.temperature}
        min={0}
        max={2}
        onChange={(temperature) => change({ temperature })}
      />
      <NumberOption
        label="Longest answer in tokens"
        value={set.maxTokens}
        min={1}
        max={1e6}
        onChange={(tokens) => change({ maxTokens: tokens && Math.round(tokens) })}
      />
      <Labelled label="System prompt" class="sm:col-span-2">
        {(id) => (
          <textarea
            id={id}
            rows={3}
            class={`${INPUT} py-2`}
            placeholder="Instructions to the models, before the first question"
            value={set.system}
            onInput={(event) => change({ system: event.currentTarget.value })}
          />
        )}
      </Labelled>
      {changedOptions(set) > 0 && (
        <Button
          variant="quiet"
          class="justify-self-start"
          onClick={() =>
            change({ models: [], system: "", temperature: undefined, maxTokens: undefined })
          }
        >
          Reset the options
        </Button>
      )}
    </section>
  );
}

/** Number of options that differ from their defaults. */
export function changedOptions({ models, system, temperature, maxTokens }: ArenaSettings): number {
  return [
    models.some((model) => model !== undefined),
    system.trim() !== "",
    temperature !== undefined,
    maxTokens !== undefined,
  ].filter(Boolean).length;
}

/** A number within limits. The text stays as typed; while it is invalid, the option has no value. */
function NumberOption({
  label,
  value,
  min,
  max,
  onChange,
}: {
  label: string;
  value: number | undefined;
  min: number;
  max: number;
  onChange: (value: number | undefined) => void;
}) {
  const [text, setText] = useState(String(value ?? ""));
  const numberOf = (typed: string) =>
    typed !== "" && Number(typed) >= min && Number(typed) <= max ? Number(typed) : undefined;
  useEffect(() => {
    // The options were reset.
    if (value === undefined && numberOf(text) !== undefined) setText("");
  }, [value]);
  return (
    <NumberField
      label={label}
      min={min}
      max={max}
      placeholder="the model's default"
      value={text}
      about={
        text !== "" &&
        numberOf(text) === undefined &&
        `Enter a number from ${count(min)} to ${count(max)}. Until then, the model's default is used.`
      }
      onChange={(typed) => {
        setText(typed);
        onChange(numberOf(typed));
      }}
    />
  );
}
