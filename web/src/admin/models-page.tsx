import { useState } from "preact/hooks";
import type { Configuration, ListedModel } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import { useRead } from "../page/use-read.ts";
import { Button } from "../parts/button.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { NumberField, SelectField } from "../parts/field.tsx";
import { Form, useFields } from "../parts/form.tsx";
import { FormBox } from "../parts/form-box.tsx";
import { Panel } from "../parts/panel.tsx";
import { useValue } from "../state/observable.ts";
import { count, dollars, prices } from "../text/format.ts";
import { Deployments } from "./deployments.tsx";
import { useManaged } from "./managed.ts";
import { addedModels, deploymentsOf } from "./model-deployments.ts";

/** The models that are served, with prices and capabilities, and models that can be added. */
export function ModelsPage() {
  const served = useValue(usePage().serving);
  const { configuration, isEditable, change, isBusy } = useManaged();
  const [edited, setEdited] = useState<string>();
  const own = configuration.document.models;
  const providers = providersOf(configuration.document);
  const enable = (name: string, isEnabled: boolean) => {
    const { enabled: _, ...rest } = own[name] as Record<string, unknown>;
    const value = isEnabled ? rest : { ...rest, enabled: false };
    return change([{ section: "models", name, value }]);
  };
  return (
    <>
      <Panel
        title="Served models"
        about="Prices are US dollars per million tokens. Values that the configuration does not set come from the catalog. A disabled model gets no requests; its votes and what was learned about it stay."
      >
        <DataTable label="Served models" columns={COLUMNS}>
          {(served?.models ?? []).map((model) => (
            <ModelRow
              key={model.id}
              model={model}
              isBusy={isBusy}
              actions={
                isEditable && own[model.id]
                  ? {
                      edit: () => setEdited(model.id),
                      enable: (isEnabled) => enable(model.id, isEnabled),
                    }
                  : undefined
              }
            />
          ))}
        </DataTable>
        {Object.keys(own).length === 0 && (
          <p class="text-sm text-muted">
            {UNNAMED[configuration.from]}{" "}
            {configuration.from === "sandbox" && isEditable && (
              <a href="#/admin/providers" class="text-accent underline underline-offset-2">
                Add a provider
              </a>
            )}
          </p>
        )}
      </Panel>
      {edited !== undefined && own[edited] && (
        <FormBox key={edited} opener={`edit-${edited}`} onClose={() => setEdited(undefined)}>
          <EditModel name={edited} onClose={() => setEdited(undefined)} />
        </FormBox>
      )}
      {isEditable && providers.length > 0 && <AddModel providers={providers} />}
    </>
  );
}

const LISTED =
  "These are all models that the providers list. As soon as you add a model of a provider, its other models are not served.";

/** Says where the models come from if the configuration names none. */
const UNNAMED = {
  store: LISTED,
  file: LISTED,
  program: LISTED,
  environment:
    "These models come from keys in the environment. Add one here to change or retire them.",
  sandbox: "These models are simulated. They are replaced by the first model that you add.",
};

const COLUMNS = [
  { name: "Model" },
  { name: "Provider" },
  {
    name: "Input, $ per million tokens",
    isNumber: true,
    hint: "US dollars per million tokens of the prompt",
  },
  {
    name: "Output, $ per million tokens",
    isNumber: true,
    hint: "US dollars per million tokens of the answer",
  },
  { name: "Context, tokens", isNumber: true, hint: "Tokens of prompt and answer together" },
  { name: "Can", isSpaced: true, hint: "Kinds of requests that the model accepts besides text" },
  { name: "State", isSpaced: true, hint: "Whether the model gets requests" },
  { name: "Change", isHidden: true },
];

interface ModelActions {
  readonly edit: () => void;
  readonly enable: (isEnabled: boolean) => void;
}

function ModelRow({
  model,
  actions,
  isBusy,
}: {
  model: ListedModel;
  actions: ModelActions | undefined;
  isBusy: boolean;
}) {
  const { id, owned_by: provider, price, capabilities, deployments = [] } = model;
  const { disabled: isDisabled = false } = model;
  const verb = isDisabled ? "Enable" : "Disable";
  return (
    <tr class="border-t border-line">
      <th
        scope="row"
        class={`py-2 pr-3 text-left font-normal ${id.length > 28 ? "min-w-48 break-all" : "whitespace-nowrap"}`}
      >
        {id}
      </th>
      <td class="pr-3 text-muted">
        {deployments.length > 1 ? deployments.map((one) => one.provider).join(", ") : provider}
      </td>
      <td class="pl-3 text-right tabular-nums">{price ? dollars(price.input) : "unknown"}</td>
      <td class="pl-3 text-right tabular-nums">{price ? dollars(price.output) : "unknown"}</td>
      <td class="pl-3 text-right tabular-nums">
        {capabilities?.context ? count(capabilities.context) : "unknown"}
      </td>
      <td class="py-2 pl-4 text-muted">{abilities(capabilities)}</td>
      <td class={`pl-4 ${isDisabled ? "text-warn" : "text-good"}`}>
        {isDisabled ? "disabled" : "enabled"}
      </td>
      <td class="text-right whitespace-nowrap">
        {actions && (
          <>
            <Button
              variant="quiet"
              disabled={isBusy}
              onClick={() => actions.enable(isDisabled)}
              aria-label={`${verb} ${id}`}
            >
              {verb}
            </Button>
            <Button
              id={`edit-${id}`}
              variant="quiet"
              onClick={actions.edit}
              aria-label={`Edit ${id}`}
            >
              Edit
            </Button>
          </>
        )}
      </td>
    </tr>
  );
}

function abilities(capabilities: ListedModel["capabilities"] = {}): string {
  const { vision, tools, json_schema: schema } = capabilities;
  const all = [vision && "images", tools && "tools", schema && "JSON schema"].filter(Boolean);
  return all.join(", ") || "\u2013";
}

/** Changes the price and context of a model, or retires it. */
function EditModel({ name, onClose }: { name: string; onClose: () => void }) {
  const { configuration, change, isBusy } = useManaged();
  const entry = configuration.document.models[name] as {
    readonly price?: { readonly input: number; readonly output: number };
    readonly context?: number;
  };
  const served = useValue(usePage().serving)?.models.find(({ id }) => id === name);
  const { fields, bind } = useFields({
    input: String(entry.price?.input ?? ""),
    output: String(entry.price?.output ?? ""),
    context: String(entry.context ?? ""),
  });
  const save = async () => {
    const { input, output, context } = fields;
    const { price, context: _, ...rest } = entry;
    const isPriced = input !== "" && output !== "";
    const value = {
      ...rest,
      ...(isPriced && { price: { ...price, input: Number(input), output: Number(output) } }),
      ...(context !== "" && { context: Number(context) }),
    };
    if (await change([{ section: "models", name, value }])) onClose();
  };
  const retire = async () => {
    const routers = Object.entries(configuration.document.routers);
    // Routers that name the model choose among the others from now on.
    const pools = routers.flatMap(([router, settings]) => {
      const { models } = settings as { models?: string[] };
      if (!models?.includes(name)) return [];
      const value = { ...settings, models: models.filter((one) => one !== name) };
      return [{ section: "routers" as const, name: router, value }];
    });
    if (await change([...pools, { section: "models", name, value: null }])) onClose();
  };
  return (
    <Panel title={name} about="Empty fields take their value, shown in grey, from the catalog.">
      <Form class="grid gap-4 sm:grid-cols-3" onSubmit={save}>
        <NumberField
          label="Input price, $ per million tokens"
          {...bind("input")}
          required={fields.output !== ""}
          placeholder={served?.price && String(served.price.input)}
        />
        <NumberField
          label="Output price, $ per million tokens"
          {...bind("output")}
          required={fields.input !== ""}
          placeholder={served?.price && String(served.price.output)}
        />
        <NumberField
          label="Context, tokens"
          min={1}
          {...bind("context")}
          placeholder={
            served?.capabilities?.context ? String(served.capabilities.context) : undefined
          }
        />
        <div class="flex flex-wrap gap-2 sm:col-span-3">
          <Button variant="primary" type="submit" disabled={isBusy}>
            Save
          </Button>
          <Button disabled={isBusy} onClick={retire}>
            Retire the model
          </Button>
          <Button variant="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </Form>
      <Deployments name={name} providers={providersOf(configuration.document)} served={served} />
    </Panel>
  );
}

/** Names of the providers that the configuration has or refers to. */
function providersOf({ providers, models }: Configuration["document"]): string[] {
  const used = Object.values(models).flatMap((entry) =>
    deploymentsOf(entry).map(({ provider }) => provider),
  );
  return [...new Set([...Object.keys(providers), ...used])].filter((name) => name !== "sandbox");
}

/** Adds a model of the catalog. */
function AddModel({ providers }: { providers: readonly string[] }) {
  const { configuration, change, isBusy } = useManaged();
  const { document } = configuration;
  const [wanted, setProvider] = useState<string>();
  const provider = providers.find((name) => name === wanted) ?? providers[0]!;
  const [model, setModel] = useState("");
  const entry = document.providers[provider] as { kind?: string } | undefined;
  const kind = entry?.kind ?? provider;
  const read = async () => ({ kind, models: (await joust.catalog({ provider: kind })).data });
  const { data: found } = useRead(read, [kind]);
  const catalog = found?.kind === kind ? found.models : [];
  const listed = catalog.find((one) => one.model === model);
  const add = async () => {
    if (await change(addedModels(document.models, provider, [model.trim()]))) setModel("");
  };
  return (
    <Panel title="Add a model" about="Price, context and capabilities come from the catalog.">
      <Form
        class="grid items-start gap-4 sm:grid-cols-2"
        onSubmit={() => model.trim() !== "" && add()}
      >
        <SelectField
          label="Provider"
          value={provider}
          onChange={setProvider}
          options={providers.map((name) => ({ value: name, text: name }))}
        />
        <div class="flex min-w-0 flex-col gap-1 text-sm">
          <label for="new-model" class="font-medium">
            Model
          </label>
          <input
            id="new-model"
            list="catalog"
            value={model}
            autocomplete="off"
            onInput={(event) => setModel(event.currentTarget.value)}
            class="min-h-10 w-full min-w-0 rounded-lg border border-strong bg-page px-3"
          />
          <datalist id="catalog">
            {catalog.map((one) => (
              <option key={one.model} value={one.model} />
            ))}
          </datalist>
          <p class="text-muted">
            {listed
              ? `${listed.price ? `${prices(listed.price)} per million tokens` : "No known price"}; ${
                  listed.capabilities?.context
                    ? `${count(listed.capabilities.context)} tokens`
                    : "context unknown"
                }; ${abilities(listed.capabilities)}`
              : `${count(catalog.length)} models in the catalog. Another name works too.`}
          </p>
        </div>
        <div class="sm:col-span-2">
          <Button variant="primary" type="submit" disabled={isBusy || model.trim() === ""}>
            Add the model
          </Button>
        </div>
      </Form>
    </Panel>
  );
}
