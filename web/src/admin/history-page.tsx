import { useEffect, useState } from "preact/hooks";
import type { AuditRecord } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { clockTime } from "../text/format.ts";
import { useManaged } from "./managed.ts";

const PAGE = 50;

/** Changes that operators made, with a way back to each revision, and the export. */
export function HistoryPage() {
  const { configuration, isEditable } = useManaged();
  const [records, setRecords] = useState<readonly AuditRecord[]>();
  const [hasMore, setHasMore] = useState(false);
  const [problem, setProblem] = useState<string>();
  const read = async (before?: string) => {
    try {
      const { data } = await joust.audit({ limit: PAGE, ...(before !== undefined && { before }) });
      setRecords((known) => (before === undefined ? data : [...(known ?? []), ...data]));
      setHasMore(data.length === PAGE);
      setProblem(undefined);
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  useEffect(() => {
    read();
  }, [configuration.revision]);
  return (
    <>
      <Problem text={problem} />
      {isEditable && <ExportPanel />}
      <Panel
        title="Changes"
        about="Everything that was changed on these pages, by API or from the command line, newest first."
      >
        {records?.length === 0 && <p class="text-sm text-muted">Nothing has been changed yet.</p>}
        <ol class="flex flex-col">
          {records?.map((record) => (
            <Change key={record.id} record={record} />
          ))}
        </ol>
        {hasMore && (
          <Button class="self-start" onClick={() => read(records!.at(-1)!.id)}>
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
