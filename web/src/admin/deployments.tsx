import { useState } from "preact/hooks";
import type { ListedModel, ProviderTest } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { NumberField, SelectField, TextField } from "../parts/field.tsx";
import { Form, useAction, useFields } from "../parts/form.tsx";
import { Problem } from "../parts/problem.tsx";
import { count } from "../text/format.ts";
import { useManaged } from "./managed.ts";
import { type Deployment, deploymentsOf, withDeployments } from "./model-deployments.ts";
import { TestReport } from "./test-report.tsx";

/** Index of the deployment that is being changed; `new` for one that is being added. */
type Opened = number | "new" | undefined;

/** The endpoints and keys that serve a model: add, test, change, replace the key, remove. */
export function Deployments({
  name,
  providers,
  served,
}: {
  name: string;
  providers: readonly string[];
  served: ListedModel | undefined;
}) {
  const { configuration, change, isBusy } = useManaged();
  const [opened, setOpened] = useState<Opened>();
  const entry = configuration.document.models[name] ?? {};
  const all = deploymentsOf(entry);
  const save = async (deployments: readonly Deployment[]) => {
    const value = withDeployments(entry, deployments);
    if (await change([{ section: "models", name, value }])) setOpened(undefined);
  };
  return (
    <section class="flex flex-col gap-3 border-t border-line pt-4" aria-label="Deployments">
      <div>
        <h3 class="text-sm font-semibold">Deployments</h3>
        <p class="text-sm text-muted">
          Hosts or keys that serve this model. Requests are divided by weight; if one fails, another
          one answers.
        </p>
      </div>
      <DataTable label={`Deployments of ${name}`} columns={COLUMNS}>
        {all.map((one, i) => (
          <tr key={labelOf(one, i)} class="border-t border-line">
            <th scope="row" class="py-2 pr-3 text-left font-normal break-words">
              {one.provider}
            </th>
            <td class="pr-3 break-words text-muted">{one.model ?? "the same"}</td>
            <td class="pr-3 text-muted">{one.key === undefined ? "the provider's" : "its own"}</td>
            <td class="pl-3 text-right tabular-nums">{one.weight ?? 1}</td>
            <td class="pl-3 text-right tabular-nums">{limitsOf(one)}</td>
            <td class="pl-4 text-muted">{STATES[served?.deployments?.[i]?.state ?? "closed"]}</td>
            <td class="text-right whitespace-nowrap">
              <Button
                variant="quiet"
                aria-label={`Change the deployment at ${one.provider}`}
                onClick={() => setOpened(i)}
              >
                Change
              </Button>
              {all.length > 1 && (
                <Button
                  variant="quiet"
                  disabled={isBusy}
                  aria-label={`Remove the deployment at ${one.provider}`}
                  onClick={() => save(all.filter((_, k) => k !== i))}
                >
                  Remove
                </Button>
              )}
            </td>
          </tr>
        ))}
      </DataTable>
      {opened === undefined ? (
        <Button class="self-start" onClick={() => setOpened("new")}>
          Add a deployment
        </Button>
      ) : (
        <DeploymentForm
          key={opened}
          model={name}
          providers={providers}
          value={opened === "new" ? undefined : all[opened]}
          onClose={() => setOpened(undefined)}
          onSave={(next) =>
            save(
              opened === "new" ? [...all, next] : all.map((one, i) => (i === opened ? next : one)),
            )
          }
        />
      )}
    </section>
  );
}

function labelOf({ name, provider, model = "" }: Deployment, i: number): string {
  return name ?? `${i} ${provider} ${model}`;
}

function limitsOf({ rpm, tpm }: Deployment): string {
  const limits = [
    rpm === undefined ? "" : `${count(rpm)} requests`,
    tpm === undefined ? "" : `${count(tpm)} tokens`,
  ].filter((text) => text !== "");
  return limits.length === 0 ? "no limit" : limits.join(", ");
}

const STATES = {
  closed: "is used",
  "half-open": "is tried again",
  open: "paused after failures",
} as const;

const COLUMNS = [
  { name: "Provider" },
  { name: "Model at the provider" },
  { name: "Key" },
  { name: "Weight", isNumber: true, hint: "Share of the requests, relative to the other weights" },
  { name: "Per minute", isNumber: true, hint: "Largest number of requests and tokens" },
  { name: "State", isSpaced: true },
  { name: "Change", isHidden: true },
];

/** Settings of one deployment, which can be tested before they are saved. */
function DeploymentForm({
  model,
  providers,
  value,
  onSave,
  onClose,
}: {
  model: string;
  providers: readonly string[];
  value: Deployment | undefined;
  onSave: (value: Deployment) => void;
  onClose: () => void;
}) {
  const { configuration, isBusy } = useManaged();
  const { run, isBusy: isTesting, problem, result: test, forget } = useAction<ProviderTest>();
  const { fields, bind } = useFields(
    {
      provider: value?.provider ?? providers[0] ?? "",
      upstream: value?.model ?? "",
      key: "",
      weight: String(value?.weight ?? ""),
      rpm: String(value?.rpm ?? ""),
      tpm: String(value?.tpm ?? ""),
    },
    forget,
  );
  const { provider, upstream, key } = fields;
  const number = (name: "weight" | "rpm" | "tpm") =>
    fields[name] === "" ? {} : { [name]: Number(fields[name]) };
  const keptKey = provider === value?.provider ? value.key : undefined;
  const entered = key.trim() || keptKey;
  const next: Deployment = {
    ...(value?.name !== undefined && { name: value.name }),
    provider,
    ...(upstream.trim() !== "" && { model: upstream.trim() }),
    ...(entered !== undefined && { key: entered }),
    ...number("weight"),
    ...number("rpm"),
    ...number("tpm"),
  };
  const tryIt = () => {
    const { model: own = model } = configuration.document.models[model] as { model?: string };
    const { [provider]: entry = {} } = configuration.document.providers;
    return joust.testProvider({
      name: provider,
      ...(key.trim() !== "" && { value: { ...entry, key: key.trim() } }),
      models: [upstream.trim() || own],
    });
  };
  return (
    <Form
      class="grid items-start gap-4 rounded-xl bg-sunken p-4 sm:grid-cols-3"
      aria-label={value ? "Change the deployment" : "Add a deployment"}
      onSubmit={() => !isBusy && onSave(next)}
    >
      <SelectField
        label="Provider of the deployment"
        {...bind("provider")}
        options={providers.map((name) => ({ value: name, text: name }))}
      />
      <TextField label="Model at the provider" {...bind("upstream")} placeholder={model} />
      <TextField
        label="Key of the deployment"
        type="password"
        {...bind("key")}
        placeholder={keptKey === undefined ? "the provider's key" : "the stored key stays"}
      />
      <NumberField label="Weight" {...bind("weight")} placeholder="1" />
      <NumberField label="Requests per minute" {...bind("rpm")} placeholder="no limit" />
      <NumberField label="Tokens per minute" {...bind("tpm")} placeholder="no limit" />
      <div class="flex flex-wrap gap-2 sm:col-span-3">
        <Button disabled={isTesting || provider === ""} onClick={() => run(tryIt)}>
          {isTesting ? "Testing\u2026" : "Test the deployment"}
        </Button>
        <Button variant="primary" type="submit" disabled={isBusy || provider === ""}>
          Save the deployment
        </Button>
        <Button variant="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
      <div class="sm:col-span-3 empty:hidden">
        <Problem text={problem} />
        {test && <TestReport test={test} />}
      </div>
    </Form>
  );
}
