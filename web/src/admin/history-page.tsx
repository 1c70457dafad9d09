import { useState } from "preact/hooks";
import type { AuditRecord } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { useRead } from "../page/use-read.ts";
import { Button } from "../parts/button.tsx";
import { useAction } from "../parts/form.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { clockTime } from "../text/format.ts";
import { useManaged } from "./managed.ts";

const PAGE = 50;

/** The pages after the first one. They are dropped when the first page has changed. */
interface Older {
  readonly first: unknown;
  readonly records: readonly AuditRecord[];
  readonly isComplete: boolean;
}

/** Changes that operators made, with a way back to each revision, and the export. */
export function HistoryPage() {
  const { configuration, isEditable } = useManaged();
  const read = useRead(() => joust.audit({ limit: PAGE }), [configuration.revision]);
  const first = read.data?.data;
  const [loaded, setLoaded] = useState<Older>();
  const { run, isBusy, problem } = useAction();
  const older = loaded?.first === first ? loaded : undefined;
  const records = [...(first ?? []), ...(older?.records ?? [])];
  const isComplete = older?.isComplete ?? records.length < PAGE;
  const loadOlder = async () => {
    const { data } = await joust.audit({ limit: PAGE, before: records.at(-1)!.id });
    const all = [...(older?.records ?? []), ...data];
    setLoaded({ first, records: all, isComplete: data.length < PAGE });
  };
  return (
    <>
      <Problem text={read.problem ?? problem} />
      {isEditable && <ExportPanel />}
      <Panel
        title="Changes"
        about="Everything that was changed on these pages, by API or from the command line, newest first."
      >
        {first?.length === 0 && <p class="text-sm text-muted">Nothing has been changed yet.</p>}
        <ol class="flex flex-col">
          {records.map((record) => (
            <Change key={record.id} record={record} />
          ))}
        </ol>
        {!isComplete && (
          <Button class="self-start" disabled={isBusy} onClick={() => run(loadOlder)}>
            Show older changes
          </Button>
        )}
      </Panel>
    </>
  );
}

function byWhom(actor: string | null): string {
  if (!actor) return "without a key";
  // The name of a key has no space.
  return actor === "command line" ? "from the command line" : `key ${actor}`;
}

function Change({ record }: { record: AuditRecord }) {
  const { configuration, isEditable, revert, isBusy } = useManaged();
  const { at, actor, action, target, revision, before, after } = record;
  const isNewest = revision === configuration.revision;
  return (
    <li class="flex flex-col gap-2 border-t border-line py-3 text-sm first:border-t-0">
      <div class="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span class="min-w-0 flex-1 basis-60">
          <strong class="font-medium">{ACTIONS[action] ?? action}</strong>{" "}
          <span class="break-words">{inWords(target)}</span>
          <span class="block text-muted">
            {clockTime(Date.parse(at))}
            {`, ${byWhom(actor)}`}
            {revision !== undefined && `, revision ${revision}${isNewest ? " (now)" : ""}`}
          </span>
        </span>
        {isEditable && revision !== undefined && (
          <>
            {!isNewest && (
              <Button disabled={isBusy} onClick={() => revert(revision)}>
                {`Go back to revision ${revision}`}
              </Button>
            )}
            {isNewest && (
              <Button disabled={isBusy} onClick={() => revert(revision - 1)}>
                Undo this change
              </Button>
            )}
          </>
        )}
      </div>
      {(before !== undefined || after !== undefined) && (
        <details>
          <summary class="text-muted">Before and after</summary>
          <div class="mt-2 grid gap-3 md:grid-cols-2">
            <Json title="Before" value={before} />
            <Json title="After" value={after} />
          </div>
        </details>
      )}
    </li>
  );
}

/** Entries of the configuration in words: "providers.openai, models.a, models.b" is "provider openai, models a, b". */
function inWords(target: string): string {
  const sections = new Map<string, string[]>();
  for (const part of target.split(", ")) {
    const [, section, name] = /^(providers|models|routers|metrics)\.(.+)$/.exec(part) ?? [];
    if (section === undefined || name === undefined) return target;
    sections.set(section, [...(sections.get(section) ?? []), name]);
  }
  return [...sections]
    .map(([section, names]) =>
      names.length > 1 ? `${section} ${names.join(", ")}` : `${section.slice(0, -1)} ${names[0]}`,
    )
    .join("; ");
}

const ACTIONS: Readonly<Record<string, string>> = {
  "configuration.change": "Changed",
  "configuration.revert": "Went back to",
  setup: "Set up",
  "provider.test": "Tested with its stored key:",
  "key.add": "Created the key",
  "key.change": "Changed the key",
  "key.revoke": "Revoked the key",
  "router.freeze": "Froze learning of",
  "router.thaw": "Thawed learning of",
  "router.rollback": "Rolled back",
  "router.weigh": "Weighed a voter of",
  "router.forget": "Forgot a voter of",
  backup: "Backed up to",
};

function Json({ title, value }: { title: string; value: unknown }) {
  return (
    <section class="min-w-0" aria-label={title}>
      <h3 class="text-muted">{title}</h3>
      <pre class="overflow-x-auto rounded-lg bg-sunken p-3 text-xs" tabIndex={0}>
        {value === undefined ? "nothing" : JSON.stringify(value, undefined, 2)}
      </pre>
    </section>
  );
}

function ExportPanel() {
  const { configuration } = useManaged();
  return (
    <Panel
      title={`Revision ${configuration.revision}`}
      about="As a file, the configuration can be kept in version control. Secrets become environment variables."
    >
      <a
        href="/v1/admin/configuration/export"
        download="joust.yaml"
        class="inline-flex min-h-10 items-center self-start rounded-lg border border-line px-3.5 text-sm hover:border-strong"
      >
        Export joust.yaml
      </a>
    </Panel>
  );
}
