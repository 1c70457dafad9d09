import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { usePage } from "../page/page.ts";
import type { ArenaSettings } from "../page/settings.ts";
import { Button } from "../parts/button.tsx";
import { INPUT } from "../parts/field.tsx";
import { useValue } from "../state/observable.ts";

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
      class="grid gap-x-4 gap-y-3 border-t border-line px-4 py-3 sm:grid-cols-2"
    >
      {slots.map((slot) => (
        <Field key={slot} name={names[slot]!}>
          {(id) => (
            <select
              id={id}
              class={INPUT}
              value={set.models[slot] ?? ""}
              onChange={(event) => choose(slot, event.currentTarget.value)}
            >
              <option value="">Joust chooses</option>
              {pool.map((model) => (
                <option
                  key={model}
                  value={model}
                  disabled={set.isDuel && set.models[1 - slot] === model}
                >
                  {model}
                </option>
              ))}
            </select>
          )}
        </Field>
      ))}
      <Field name="Temperature, 0 to 2">
        {(id) => (
          <input
            id={id}
            type="number"
            min={0}
            max={2}
            step={0.1}
            class={INPUT}
            placeholder="the model's default"
            value={set.temperature ?? ""}
            onInput={(event) => change({ temperature: limited(event.currentTarget.value, 0, 2) })}
          />
        )}
      </Field>
      <Field name="Longest answer in tokens">
        {(id) => (
          <input
            id={id}
            type="number"
            min={1}
            step={1}
            class={INPUT}
            placeholder="the model's default"
            value={set.maxTokens ?? ""}
            onInput={(event) => {
              const tokens = limited(event.currentTarget.value, 1, 1e6);
              change({ maxTokens: tokens === undefined ? undefined : Math.round(tokens) });
            }}
          />
        )}
      </Field>
      <Field name="System prompt" isWide>
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
      </Field>
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

function Field({
  name,
  isWide = false,
  children,
}: {
  name: string;
  isWide?: boolean;
  /** Renders the control, which must have this id. */
  children: (id: string) => ComponentChildren;
}) {
  const id = useId();
  return (
    <div class={`flex min-w-0 flex-col gap-1 text-sm ${isWide ? "sm:col-span-2" : ""}`}>
      <label for={id} class="text-muted">
        {name}
      </label>
      {children(id)}
    </div>
  );
}

function limited(text: string, min: number, max: number): number | undefined {
  const value = Number(text);
  return text.trim() === "" || !(value >= min && value <= max) ? undefined : value;
}
