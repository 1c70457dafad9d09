import { useState } from "preact/hooks";
import type { ProviderTest } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { TextField } from "../parts/field.tsx";
import { FormBox } from "../parts/form-box.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { AddProvider } from "./add-provider.tsx";
import { useManaged } from "./managed.ts";
import { TestReport } from "./test-report.tsx";

/** Hosts of models with their keys. */
export function ProvidersPage() {
  const { configuration, isEditable } = useManaged();
  const { providers, models } = configuration.effective;
  const usedBy = (name: string) =>
    Object.entries(models).flatMap(([model, entry]) => {
      const { provider, deployments = [] } = entry as ModelEntry;
      const all = [provider, ...deployments.map((one) => one.provider)];
      return all.includes(name) ? [model] : [];
    });
  const named = new Set([
    ...Object.keys(providers),
    ...Object.values(models).flatMap((entry) => {
      const { provider, deployments = [] } = entry as ModelEntry;
      return [provider, ...deployments.map((one) => one.provider)].filter(
        (one) => one !== undefined,
      );
    }),
  ]);
  return (
    <>
      {named.size === 0 && configuration.from !== "sandbox" && (
        <p class="text-sm text-muted">
          The models come from keys in the environment. Providers that you add here are served
          besides them.
        </p>
      )}
      {[...named].map((name) => (
        <ProviderPanel key={name} name={name} models={usedBy(name)} />
      ))}
      {isEditable && <AddProvider />}
    </>
  );
}

interface ModelEntry {
  readonly provider?: string;
  readonly model?: string;
  readonly deployments?: readonly { readonly provider: string; readonly model?: string }[];
}

function ProviderPanel({ name, models }: { name: string; models: readonly string[] }) {
  const { configuration, isEditable, change, isBusy } = useManaged();
  const entry = configuration.document.providers[name] as
    | { readonly key?: string; readonly url?: string; readonly kind?: string }
    | undefined;
  const hasModels = Object.keys(configuration.document.models).length > 0;
  const [test, setTest] = useState<ProviderTest>();
  const [problem, setProblem] = useState<string>();
  const [isTesting, setIsTesting] = useState(false);
  const [key, setKey] = useState<string>();
  const upstream = models.map((model) => {
    const { model: at = model } = configuration.effective.models[model] as ModelEntry;
    return at;
  });
  const run = async () => {
    setIsTesting(true);
    setProblem(undefined);
    setTest(undefined);
    const value = { ...entry, ...(key && { key }) };
    await joust
      .testProvider({ name, value, models: upstream.slice(0, 20) })
      .then(setTest, (error: Error) => setProblem(error.message));
    setIsTesting(false);
  };
  /** Takes a new key. Results of tests with the previous one are removed. */
  const enter = (next: string | undefined) => {
    setKey(next);
    setTest(undefined);
    setProblem(undefined);
  };
  const rotate = async () => {
    const value = { ...entry, key };
    if (!(await change([{ section: "providers", name, value }]))) return;
    enter(undefined);
  };
  const remove = () =>
    change([
      ...models.map((model) => ({ section: "models" as const, name: model, value: null })),
      ...(entry ? [{ section: "providers" as const, name, value: null }] : []),
    ]);
  return (
    <Panel
      title={name}
      about={`${entry?.url ?? entry?.kind ?? "Known provider"} \u00b7 key: ${
        entry?.key ? "stored, encrypted" : "from the environment, or none"
      } \u00b7 ${models.length === 0 ? "no models" : models.join(", ")}`}
      actions={
        isEditable && (
          <div class="flex flex-wrap gap-2">
            <Button disabled={isTesting} onClick={run}>
              {isTesting ? "Testing\u2026" : "Test"}
            </Button>
            <Button
              id={`replace-${name}`}
              onClick={() => enter(key === undefined ? "" : undefined)}
              aria-expanded={key !== undefined}
            >
              Replace the key
            </Button>
            <Button disabled={isBusy} onClick={remove}>
              Remove
            </Button>
          </div>
        )
      }
    >
      {key !== undefined && (
        <FormBox opener={`replace-${name}`} onClose={() => enter(undefined)}>
          <form
            class="flex flex-col gap-3"
            onSubmit={(event) => {
              event.preventDefault();
              if (key !== "") rotate();
            }}
          >
            <TextField
              label={`New key of ${name}`}
              type="password"
              value={key}
              onChange={enter}
              about="Test it first. Running requests continue with the old key."
            />
            <Button
              variant="primary"
              type="submit"
              class="self-start"
              disabled={isBusy || key === ""}
            >
              Save the new key
            </Button>
          </form>
        </FormBox>
      )}
      {isEditable && models.length === 0 && (
        <p class="text-sm text-muted">
          {hasModels
            ? "No model uses this provider yet. "
            : "Every model that this provider lists is served. "}
          <a href="#/admin/models" class="underline">
            {hasModels ? "Add a model of it" : "Choose among them"}
          </a>
        </p>
      )}
      <Problem text={problem} />
      {test && <TestReport test={test} />}
    </Panel>
  );
}
