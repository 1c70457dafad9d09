import { useState } from "preact/hooks";
import type { ProviderTest } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { useAction } from "../parts/form.tsx";
import { FormBox } from "../parts/form-box.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { plural } from "../text/format.ts";
import { type Managed, useManaged } from "./managed.ts";
import { deploymentsOf, namesAt, withDeployments } from "./model-deployments.ts";
import { type Draft, entryWith, type ProviderEntry, ProviderForm } from "./provider-form.tsx";
import { TestReport } from "./test-report.tsx";

/** A provider with the names of its models, and the buttons that test, change and remove it. */
export function ProviderPanel({ name, models }: { name: string; models: readonly string[] }) {
  const { configuration, isEditable, change, isBusy } = useManaged();
  const entry = configuration.document.providers[name] as ProviderEntry | undefined;
  const { run, isBusy: isTesting, problem, result: test, forget } = useAction<ProviderTest>();
  const [draft, setDraft] = useState<Draft>();
  const value = entryWith(entry, draft);
  const tryIt = () => {
    const names = namesAt(name, configuration.effective.models);
    return joust.testProvider({ name, value, models: names.slice(0, 20) });
  };
  /** Takes new input. Results of tests with the previous input are removed. */
  const edit = (next: Draft | undefined) => {
    setDraft(next);
    forget();
  };
  /** Opens a form, or closes it if it is open. */
  const toggle = (next: Draft) => edit(draft?.form === next.form ? undefined : next);
  const save = async () => {
    if (await change([{ section: "providers", name, value }])) edit(undefined);
  };
  const othersOf = (model: string) =>
    deploymentsOf(configuration.document.models[model] ?? {}).filter(
      (one) => one.provider !== name,
    );
  const lost = models.filter((model) => othersOf(model).length === 0).length;
  /** Removes the provider and its models. A model that others serve too keeps those deployments. */
  const remove = () =>
    change([
      ...models.map((model) => {
        const others = othersOf(model);
        const own = configuration.document.models[model] ?? {};
        const value = others.length === 0 ? null : withDeployments(own, others);
        return { section: "models" as const, name: model, value };
      }),
      ...(entry ? [{ section: "providers" as const, name, value: null }] : []),
    ]);
  return (
    <Panel
      title={name}
      about={`${entry?.url ?? entry?.kind ?? "Known provider"} \u00b7 key: ${keyText(
        entry,
        configuration.managed_by,
      )} \u00b7 ${models.length === 0 ? "no models" : models.join(", ")}`}
      actions={
        isEditable && (
          <div class="flex flex-wrap gap-2">
            <Button disabled={isTesting} onClick={() => run(tryIt)}>
              {isTesting ? "Testing\u2026" : "Test"}
            </Button>
            {entry && (
              <Button
                id={`address-${name}`}
                onClick={() => toggle({ form: "address", url: entry.url ?? "", key: "" })}
                aria-expanded={draft?.form === "address"}
                aria-label={`Change ${name}`}
              >
                Change
              </Button>
            )}
            <Button
              id={`key-${name}`}
              onClick={() => toggle({ form: "key", key: "" })}
              aria-expanded={draft?.form === "key"}
            >
              Replace the key
            </Button>
            <ConfirmButton
              text="Remove"
              target={name}
              consequence={lost > 0 ? `with ${plural(lost, "model")}` : undefined}
              variant="plain"
              isBusy={isBusy}
              onConfirm={remove}
            />
          </div>
        )
      }
    >
      {draft && (
        <FormBox key={draft.form} opener={`${draft.form}-${name}`} onClose={() => edit(undefined)}>
          <ProviderForm
            name={name}
            entry={entry}
            draft={draft}
            isBusy={isBusy}
            onChange={edit}
            onSubmit={save}
          />
        </FormBox>
      )}
      {isEditable && models.length === 0 && <NoModels configuration={configuration} />}
      <Problem text={problem} />
      {test && <TestReport test={test} />}
    </Panel>
  );
}

/** Says what a provider without models of its own does. */
function NoModels({ configuration }: Pick<Managed, "configuration">) {
  const hasModels = Object.keys(configuration.document.models).length > 0;
  return (
    <p class="text-sm text-muted">
      {hasModels
        ? "No model uses this provider yet. "
        : "Every model that this provider lists is served. "}
      <a href="#/admin/models" class="underline">
        {hasModels ? "Add one of its models" : "Choose among them"}
      </a>
    </p>
  );
}

/** Says where the key of a provider is. */
function keyText(
  entry: ProviderEntry | undefined,
  managedBy: Managed["configuration"]["managed_by"],
): string {
  if (!entry?.key) return "from the environment, or none";
  if (managedBy === "store") return "stored, encrypted";
  return managedBy === "file" ? "from the file" : "from the program";
}
