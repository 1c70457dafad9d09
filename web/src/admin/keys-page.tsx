import { useState } from "preact/hooks";
import type { Key } from "../../../src/client.ts";
import { joust, session, signIn } from "../api/client.ts";
import { useRead } from "../page/use-read.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { useAction } from "../parts/form.tsx";
import { FormBox } from "../parts/form-box.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { dollars } from "../text/format.ts";
import { KeyForm, type KeyLimits } from "./key-form.tsx";
import { Notice } from "./notices.tsx";

/** API keys with their scopes, limits and use. */
export function KeysPage() {
  const { data, problem, refresh } = useRead(() => joust.keys());
  const { run, problem: failure } = useAction();
  const [created, setCreated] = useState<{ name: string; secret: string }>();
  const [edited, setEdited] = useState<string>();
  const attempt = (work: () => Promise<unknown>) => run(() => work().then(refresh));
  const keys = (data?.data ?? []).filter(({ revoked_at: revoked }) => !revoked);
  const key = keys.find(({ id }) => id === edited);
  const add = (name: string, limits: KeyLimits) =>
    attempt(async () => {
      const given = Object.entries(limits).filter(([, value]) => value !== null);
      const { secret } = await joust.addKey({ name, ...Object.fromEntries(given) } as never);
      setCreated({ name, secret });
      // From now on a key is required, also on this page.
      if (session.value?.required === false && limits.scopes.includes("admin"))
        await signIn(secret);
    });
  return (
    <>
      <Problem text={failure ?? problem} />
      {created && (
        <Notice tone="good">
          <p>
            The key <strong>{created.name}</strong> is shown only now:
          </p>
          <p class="flex flex-wrap items-center gap-2">
            <code class="break-all">{created.secret}</code>
            <CopyButton text={created.secret} what="the key" />
          </p>
        </Notice>
      )}
      <Panel
        title="API keys"
        about="Without keys, the gateway serves only its own machine. As soon as there is one, every request needs a key. Keys in joust.yaml are not listed."
      >
        {data && keys.length === 0 && <p class="text-sm text-muted">There is no key yet.</p>}
        {keys.length > 0 && (
          <DataTable label="Keys" columns={COLUMNS}>
            {keys.map((one) => (
              <KeyRow
                key={one.id}
                value={one}
                onEdit={() => setEdited(one.id)}
                onRevoke={() =>
                  attempt(async () => {
                    await joust.revokeKey(one.id);
                    if (created?.name === one.name) setCreated(undefined);
                  })
                }
              />
            ))}
          </DataTable>
        )}
      </Panel>
      {key && (
        <FormBox key={key.id} opener={`change-${key.id}`} onClose={() => setEdited(undefined)}>
          <Panel title={`Change ${key.name}`}>
            <KeyForm
              value={key}
              action="Save"
              onCancel={() => setEdited(undefined)}
              onSubmit={async (_, limits) => {
                const isSaved = await attempt(() => joust.setKeyLimits(key.id, limits as never));
                if (isSaved) setEdited(undefined);
                return isSaved;
              }}
            />
          </Panel>
        </FormBox>
      )}
      <Panel
        title="Add a key"
        about={
          data && keys.length === 0
            ? "The first key needs the scope admin: with it you sign in to these pages from then on."
            : undefined
        }
      >
        {data && (
          <KeyForm
            key={created?.name}
            action="Create the key"
            isFirst={keys.length === 0 && created === undefined}
            onSubmit={add}
          />
        )}
      </Panel>
    </>
  );
}

const COLUMNS = [
  { name: "Name" },
  { name: "Scopes" },
  {
    name: "Spent this month",
    isNumber: true,
    hint: "US dollars since the first day of the month (UTC)",
  },
  { name: "Budget", isNumber: true, hint: "US dollars per calendar month" },
  { name: "Requests per minute", isNumber: true },
  { name: "May use", isSpaced: true, hint: "Routers that may be named and models that may answer" },
  { name: "Change", isHidden: true },
];

function KeyRow({
  value,
  onEdit,
  onRevoke,
}: {
  value: Key;
  onEdit: () => void;
  onRevoke: () => void;
}) {
  const { name, scopes, spent = 0, budget, rate, models, routers } = value;
  const names = [...(routers ?? []), ...(models ?? [])];
  return (
    <tr class="border-t border-line">
      <th scope="row" class="min-w-24 py-2 pr-3 text-left font-medium break-all">
        {name}
      </th>
      <td class="pr-3 text-muted">{scopes.join(", ")}</td>
      <td class="pl-3 text-right tabular-nums">
        <a
          href={`#/requests?key=${encodeURIComponent(value.id)}`}
          class="underline underline-offset-2 hover:text-accent"
          title={`Show the requests of ${name}`}
        >
          {dollars(spent)}
        </a>
      </td>
      <td class="pl-3 text-right tabular-nums">{budget ? dollars(budget) : "no limit"}</td>
      <td class="pl-3 text-right tabular-nums">{rate ?? "no limit"}</td>
      <td class="pl-4 text-muted">{names.join(", ") || "everything"}</td>
      <td class="text-right whitespace-nowrap">
        <Button
          id={`change-${value.id}`}
          variant="quiet"
          onClick={onEdit}
          aria-label={`Change ${name}`}
        >
          Change
        </Button>
        <ConfirmButton text="Revoke" target={name} onConfirm={onRevoke} />
      </td>
    </tr>
  );
}
