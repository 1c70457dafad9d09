import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { TextField } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";
import { FormBox } from "../parts/form-box.tsx";
import { Panel } from "../parts/panel.tsx";
import { useManaged } from "./managed.ts";
import { RouterForm } from "./router-form.tsx";
import type { RouterSettings } from "./router-settings.ts";

/** Routers with their settings. */
export function RoutersPage() {
  const { configuration, isEditable } = useManaged();
  const [opened, setOpened] = useState<string>();
  const [name, setName] = useState("");
  const routers = Object.entries(configuration.effective.routers);
  const isNew = opened !== undefined && !configuration.effective.routers[opened];
  return (
    <>
      {routers.map(([router, value]) =>
        router === opened ? (
          <FormBox key={router} opener={`change-${router}`} onClose={() => setOpened(undefined)}>
            <RouterForm name={router} onClose={() => setOpened(undefined)} />
          </FormBox>
        ) : (
          <Panel
            key={router}
            title={router}
            about={summaryOf(value as unknown as RouterSettings)}
            actions={
              <Button
                id={`change-${router}`}
                onClick={() => setOpened(router)}
                aria-label={`${isEditable ? "Change" : "Show"} ${router}`}
              >
                {isEditable ? "Change" : "Show"}
              </Button>
            }
          >
            {null}
          </Panel>
        ),
      )}
      {isNew && (
        <FormBox key={opened} opener={`change-${opened}`} onClose={() => setOpened(undefined)}>
          <RouterForm name={opened} onClose={() => setOpened(undefined)} />
        </FormBox>
      )}
      {isEditable && !isNew && (
        <Panel
          title="Add a router"
          about="A router chooses among its own pool, and learns from its own votes."
        >
          <Form
            class="flex flex-col gap-3"
            onSubmit={() => {
              if (name.trim() === "") return;
              setOpened(name.trim());
              setName("");
            }}
          >
            <TextField
              label="Name"
              value={name}
              onChange={setName}
              about="Clients send it as the model."
            />
            <Button type="submit" class="self-start" disabled={name.trim() === ""}>
              Choose its settings
            </Button>
          </Form>
        </Panel>
      )}
    </>
  );
}

const MODES = {
  apply: "Routes requests",
  observe: "Only observes",
  bypass: "Is bypassed",
} as const;

function summaryOf({
  mode,
  models,
  cost_quality_tradeoff: tradeoff,
  duels,
  judge,
  guard,
}: RouterSettings) {
  return [
    MODES[mode],
    models ? `pool: ${models.join(", ")}` : "pool: all models",
    `trade-off ${tradeoff} of 10`,
    duels.mode === false
      ? "duels on request only"
      : `duels up to ${Math.round(100 * duels.share)}% of requests`,
    judge ? `judge: ${judge.model}` : "no judge",
    guard ? "guard on" : "guard off",
  ].join(" \u00b7 ");
}
