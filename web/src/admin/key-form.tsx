import type { Key } from "../../../src/client.ts";
import { usePage } from "../page/page.ts";
import { Button } from "../parts/button.tsx";
import { NamesField, NumberField, TextField } from "../parts/field.tsx";
import { Form, useFields } from "../parts/form.tsx";
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
  const { fields, set, bind } = useFields({
    name: "",
    scopes:
      (value?.scopes as readonly string[]) ??
      (isFirst ? ["route", "vote", "admin"] : ["route", "vote"]),
    budget: String(value?.budget ?? ""),
    rate: String(value?.rate ?? ""),
    concurrent: String(value?.concurrent ?? ""),
    routers: value?.routers ?? ([] as readonly string[]),
    models: value?.models ?? ([] as readonly string[]),
  });
  const { name, scopes, routers, models } = fields;
  const number = (text: string) => (text === "" ? null : Number(text));
  const submit = async () => {
    const limits: KeyLimits = {
      scopes,
      budget: number(fields.budget),
      rate: number(fields.rate),
      concurrent: number(fields.concurrent),
      models: models.length > 0 ? models : null,
      routers: routers.length > 0 ? routers : null,
    };
    if (await onSubmit(name.trim(), limits)) set({ name: "" });
  };
  const canSubmit = scopes.length > 0 && (value !== undefined || name.trim() !== "");
  return (
    <Form class="flex flex-col gap-4" onSubmit={() => canSubmit && submit()}>
      {!value && <TextField label="Name of the key" {...bind("name")} />}
      <NamesField label="Scopes" names={SCOPES} about={ABOUT_SCOPES} {...bind("scopes")} />
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
        <NumberField
          label="Budget in US dollars per month"
          {...bind("budget")}
          placeholder="no limit"
        />
        <NumberField
          label="Requests per minute"
          {...bind("rate")}
          placeholder="no limit of its own"
        />
        <NumberField
          label="Concurrent requests"
          min={1}
          {...bind("concurrent")}
          placeholder="no limit of its own"
        />
      </div>
      <details class="text-sm">
        <summary class="min-h-8 text-muted">
          Limit the routers and models that the key may use
        </summary>
        <div class="mt-2 flex flex-col gap-3">
          <p class="text-muted">If none is selected, all are allowed.</p>
          <NamesField label="Routers" names={served?.routers ?? []} {...bind("routers")} />
          <NamesField
            label="Models"
            names={served?.models.map(({ id }) => id) ?? []}
            {...bind("models")}
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
    </Form>
  );
}
