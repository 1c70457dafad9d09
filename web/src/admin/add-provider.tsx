import { useState } from "preact/hooks";
import type { ConfigurationChange, ProviderTest } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { useRead } from "../page/use-read.ts";
import { Button } from "../parts/button.tsx";
import { NamesField, SelectField, TextField } from "../parts/field.tsx";
import { Form, useAction } from "../parts/form.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { NoStoreKey } from "./first-start.tsx";
import { useManaged } from "./managed.ts";
import { addedModels } from "./model-deployments.ts";
import { TestReport } from "./test-report.tsx";

const OTHER = "another provider";

/** Adds a provider: its address and key are tested, and the models that answered can be served. */
export function AddProvider() {
  const { configuration, change, isBusy } = useManaged();
  const known = useRead(() => joust.providers()).data?.data ?? [];
  const [picked, setKind] = useState<string>();
  const [fields, setFields] = useState<Readonly<Record<string, string>>>({});
  const [tried, setTried] = useState("");
  const [selected, setSelected] = useState<readonly string[]>();
  const { run, isBusy: isTesting, problem, result: test, forget } = useAction<ProviderTest>();
  const answered = test?.steps.flatMap(({ model, ok }) => (model && ok ? [model] : [])) ?? [];
  const chosen = selected ?? answered;
  /** Removes the result of the test, because the input has changed. */
  const edited = () => {
    forget();
    setSelected(undefined);
  };
  // The first kind that is not configured yet.
  const kind =
    picked ??
    known.find(({ name: one }) => configuration.document.providers[one] === undefined)?.name ??
    "openai";
  const base = known.find(({ name }) => name === kind);
  const name = fields.name || (base ? base.name : "provider");
  // A change of an entry would replace all of it, so it is made in the provider's own form.
  const isTaken = configuration.document.providers[name] !== undefined;
  const needsUrl = kind === OTHER || base?.is_local === true;
  const settings = base?.settings ?? [];
  const set = (field: string) => (value: string) => {
    setFields({ ...fields, [field]: value });
    edited();
  };
  const value = {
    ...(base && name !== base.name && { kind: base.name }),
    ...Object.fromEntries(
      ["url", "key", ...settings].flatMap((field) =>
        fields[field] ? [[field, fields[field]]] : [],
      ),
    ),
  };
  const tryIt = () => {
    setSelected(undefined);
    const names = tried
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean);
    return joust.testProvider({ name, value, ...(names.length > 0 && { models: names }) });
  };
  const add = async () => {
    const changes: ConfigurationChange[] = [
      { section: "providers", name, value },
      ...addedModels(configuration.document.models, name, chosen),
    ];
    if (!(await change(changes))) return;
    setFields({});
    setTried("");
    edited();
  };
  return (
    <Panel
      title="Add a provider"
      about="The address, the key and the models are tested before they are saved."
    >
      <Form class="grid gap-4 sm:grid-cols-2" onSubmit={() => !isTesting && !isTaken && run(tryIt)}>
        <SelectField
          label="Kind"
          value={kind}
          onChange={(next) => {
            setKind(next);
            setFields({});
            edited();
          }}
          options={[...known.map((one) => one.name), OTHER].map((one) => ({
            value: one,
            text: one,
          }))}
          about={base?.in_environment && "The environment already has a key for it."}
        />
        <TextField
          label="Name"
          value={fields.name ?? ""}
          placeholder={name}
          onChange={set("name")}
          about={
            isTaken && `A provider ${name} already exists: change it above, or choose another name.`
          }
        />
        {needsUrl && (
          <TextField
            label="Address"
            value={fields.url ?? ""}
            placeholder={base?.url ?? "https://host/v1"}
            onChange={set("url")}
            about="Up to and including /v1."
          />
        )}
        {settings.map((setting) => (
          <TextField
            key={setting}
            label={setting}
            value={fields[setting] ?? ""}
            onChange={set(setting)}
          />
        ))}
        <TextField label="Key" type="password" value={fields.key ?? ""} onChange={set("key")} />
        <TextField
          label="Models"
          value={tried}
          placeholder="its usual models"
          onChange={(next) => {
            setTried(next);
            edited();
          }}
          about="The provider's names of the models, separated by commas."
        />
        <div class="sm:col-span-2">
          <Button type="submit" disabled={isTesting || isTaken}>
            {isTesting ? "Testing\u2026" : "Test"}
          </Button>
        </div>
      </Form>
      <Problem text={problem} />
      {test && <TestReport test={test} />}
      {answered.length > 0 && (
        <>
          <NamesField
            label="Models to serve"
            names={answered}
            value={chosen}
            onChange={setSelected}
          />
          {!configuration.can_store_secrets && <NoStoreKey />}
          <Button
            variant="primary"
            class="self-start"
            disabled={isBusy || isTaken || chosen.length === 0}
            onClick={add}
          >
            {`Add ${name}`}
          </Button>
        </>
      )}
    </Panel>
  );
}
