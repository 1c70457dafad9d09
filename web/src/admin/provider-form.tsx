import { Button } from "../parts/button.tsx";
import { TextField } from "../parts/field.tsx";
import { Form } from "../parts/form.tsx";

/** A provider's entry, with the members that the page shows. */
export interface ProviderEntry {
  readonly [member: string]: unknown;
  readonly key?: string;
  readonly url?: string;
  readonly kind?: string;
}

/** The input of the form for a new key, or of the one for another address. */
export type Draft =
  | { readonly form: "key"; readonly key: string }
  | { readonly form: "address"; readonly url: string; readonly key: string };

/** The entry of a provider with the input. An empty key keeps the stored one. */
export function entryWith(
  entry: ProviderEntry | undefined,
  draft: Draft | undefined,
): ProviderEntry {
  const key = draft?.key ? { key: draft.key } : {};
  if (draft?.form !== "address") return { ...entry, ...key };
  const { url: _, ...others } = entry ?? {};
  const url = draft.url.trim();
  return { ...others, ...(url !== "" && { url }), ...key };
}

/** The form that replaces the key of a provider or changes its address. */
export function ProviderForm({
  name,
  entry,
  draft,
  isBusy,
  onChange,
  onSubmit,
}: {
  name: string;
  entry: ProviderEntry | undefined;
  draft: Draft;
  isBusy: boolean;
  onChange: (draft: Draft) => void;
  onSubmit: () => void;
}) {
  const isMove = draft.form === "address";
  const needsKey = isMove
    ? entry?.key !== undefined && originOf(entry.url) !== originOf(draft.url)
    : true;
  const isComplete = !needsKey || draft.key !== "";
  return (
    <Form class="flex flex-col gap-3" onSubmit={() => isComplete && !isBusy && onSubmit()}>
      {isMove && (
        <TextField
          label={`Address of ${name}`}
          value={draft.url}
          placeholder={entry?.kind ?? "https://host/v1"}
          onChange={(url) => onChange({ ...draft, url })}
          about="Up to and including /v1."
        />
      )}
      <TextField
        label={isMove ? `Key of ${name}` : `New key of ${name}`}
        type="password"
        value={draft.key}
        onChange={(key) => onChange({ ...draft, key })}
        about={isMove ? aboutKey(needsKey, entry) : REPLACED}
      />
      <Button variant="primary" type="submit" class="self-start" disabled={isBusy || !isComplete}>
        {isMove ? "Save the address" : "Save the new key"}
      </Button>
    </Form>
  );
}

const REPLACED = "Test it first. Running requests continue with the old key.";

function aboutKey(needsKey: boolean, entry: ProviderEntry | undefined): string {
  if (needsKey) {
    return "The stored key was entered for another scheme, host or port: enter the key for the new address.";
  }
  return entry?.key === undefined
    ? "Only if the provider needs one."
    : "Empty keeps the stored key.";
}

/** Scheme, host and port of an address; "" if it is none. */
function originOf(url = ""): string {
  return URL.parse(url.trim())?.origin ?? "";
}
