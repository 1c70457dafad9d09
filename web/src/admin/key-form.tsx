import { useState } from "preact/hooks";
import type { Key } from "../../../src/client.ts";
import { usePage } from "../page/page.ts";
import { Button } from "../parts/button.tsx";
import { NamesField, TextField } from "../parts/field.tsx";
import { useValue } from "../state/observable.ts";

const SCOPES = ["route", "vote", "metrics", "admin"] as const;
const ABOUT_SCOPES = {
  route: "Sends requests and reads its own decisions.",
  vote: "Votes on its own requests; needs route too.",
  metrics: "Reads the numbers of all keys: the dashboard and /metrics.",
  admin: "May do everything, on these pages too.",
};

/** Limits as the gateway accepts them; null removes a limit. */
export interface KeyLimits {
  readonly scopes: readonly string[];
  readonly budget: number | null;
  readonly rate: number | null;
  readonly concurrent: number | null;
  readonly models: readonly string[] | null;
  readonly routers: readonly string[] | null;
}

/** Scopes and limits of a new key, or of one that exists. */
export function KeyForm({
  value,
  action,
  isFirst = false,
  onSubmit,
  onCancel,
}: {
  value?: Key;
  action: string;
  isFirst?: boolean;
  /** Returns whether it worked. */
  onSubmit: (name: string, limits: KeyLimits) => Promise<boolean>;
  onCancel?: () => void;
}) {
  const served = useValue(usePage().serving);
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly string[]>(
    value?.scopes ?? (isFirst ? ["route", "vote", "admin"] : ["route", "vote"]),
  );
  const [budget, setBudget] = useState(String(value?.budget ?? ""));
  const [rate, setRate] = useState(String(value?.rate ?? ""));
  const [concurrent, setConcurrent] = useState(String(value?.concurrent ?? ""));
  const [routers, setRouters] = useState<readonly string[]>(value?.routers ?? []);
  const [models, setModels] = useState<readonly string[]>(value?.models ?? []);
  const number = (text: string) => (text === "" ? null : Number(text));
  const submit = async () => {
    const limits: KeyLimits = {
      scopes,
      budget: number(budget),
      rate: number(rate),
      concurrent: number(concurrent),
      models: models.length > 0 ? models : null,
      routers: routers.length > 0 ? routers : null,
    };
    if (await onSubmit(name.trim(), limits)) setName("");
  };
  const canSubmit = scopes.length > 0 && (value !== undefined || name.trim() !== "");
  return (
    <form
      class="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSubmit) submit();
      }}
    >
      {!value && <TextField label="Name of the key" value={name} onChange={setName} />}
      <NamesField
        label="Scopes"
        names={SCOPES}
        about={ABOUT_SCOPES}
        chosen={scopes}
        onChange={setScopes}
      />
      {isFirst && !scopes.includes("admin") && (
        <p class="text-sm text-warn">
          Without a key that has the scope admin, nobody can use these pages any more.
        </p>
      )}
      {scopes.includes("metrics") && scopes.includes("vote") && (
        <p class="text-sm text-warn">
          With the scope metrics, a voter can tell which models answered a duel before voting. Use
          two keys.
        </p>
      )}
      <div class="grid gap-4 sm:grid-cols-3">
        <TextField
          label="Budget in US dollars per month"
          type="number"
          min={0}
          value={budget}
          onChange={setBudget}
          placeholder="no limit"
        />
        <TextField
          label="Requests per minute"
          type="number"
          min={0}
          value={rate}
          onChange={setRate}
          placeholder="no limit of its own"
        />
        <TextField
          label="Concurrent requests"
          type="number"
          min={1}
          value={concurrent}
          onChange={setConcurrent}
          placeholder="no limit of its own"
        />
      </div>
      <details class="text-sm">
        <summary class="min-h-8 text-muted">
          Limit the routers and models that the key may use
        </summary>
        <div class="mt-2 flex flex-col gap-3">
          <p class="text-muted">If none is selected, all are allowed.</p>
          <NamesField
            label="Routers"
            names={served?.routers ?? []}
            chosen={routers}
            onChange={setRouters}
          />
          <NamesField
            label="Models"
            names={served?.models.map(({ id }) => id) ?? []}
            chosen={models}
            onChange={setModels}
          />
        </div>
      </details>
      <div class="flex flex-wrap gap-2">
        <Button variant="primary" type="submit" disabled={!canSubmit}>
          {action}
        </Button>
        {onCancel && (
          <Button variant="quiet" onClick={onCancel}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
}
