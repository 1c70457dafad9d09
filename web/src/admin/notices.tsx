import type { ComponentChildren } from "preact";
import { Button } from "../parts/button.tsx";
import { useManaged } from "./managed.ts";

/** Says why nothing can be changed here. */
export function ReadOnlyNotice() {
  const { configuration } = useManaged();
  if (configuration.managed_by === "store") return null;
  return (
    <Notice tone="plain">
      <strong class="font-semibold">Read-only.</strong>{" "}
      {configuration.managed_by === "file" ? (
        <>
          The file <code class="break-all">{configuration.file}</code> manages this installation.
          Edit the file; the gateway reloads it automatically. Without a file, these pages can
          change everything.
        </>
      ) : (
        "The program that started this gateway manages its configuration."
      )}
    </Notice>
  );
}

/** Says that the newest revision or the file cannot be served, and what to do. */
export function InvalidNotice() {
  const { invalid, managed_by: by } = useManaged().configuration;
  if (!invalid) return null;
  const { revision, served, problem, hint } = invalid;
  if (by !== "store") {
    return (
      <Notice tone="bad">
        <p>
          <strong class="font-semibold">The file cannot be served.</strong>{" "}
          {`These pages show the configuration before its last change, which stays in use. ${problem}; ${hint}.`}
        </p>
      </Notice>
    );
  }
  return (
    <Notice tone="bad">
      <p>
        <strong class="font-semibold">{`Revision ${revision} cannot be served.`}</strong>{" "}
        {served === 0
          ? "No earlier revision can be served either. If no model comes from keys in the environment, requests get an error."
          : `These pages show revision ${served}, which is served instead.`}{" "}
        {`${problem}; ${hint}. The next change that you save replaces it; revision ${revision} stays in the history.`}
      </p>
    </Notice>
  );
}

/**
 * Shows why the last change was not saved and what to do, or a remark about a change that was
 * saved.
 */
export function ChangeNotice() {
  const { problem, remark, conflict, change, dismiss, isBusy } = useManaged();
  return (
    <div role="alert" class="contents">
      {problem && (
        <Notice tone="bad">
          <p>
            <strong class="font-semibold">Nothing was saved.</strong> {problem}
          </p>
          <Button onClick={dismiss}>Close</Button>
        </Notice>
      )}
      {remark && (
        <Notice tone="plain">
          <p>{remark}</p>
          <Button onClick={dismiss}>Close</Button>
        </Notice>
      )}
      {conflict && (
        <Notice tone="warn">
          <p>
            <strong class="font-semibold">Somebody else saved a change first.</strong>{" "}
            {conflict.message}. Your change was not saved. It is still in the form.
          </p>
          <div class="flex flex-wrap gap-2">
            {conflict.changes.length > 0 && (
              <Button variant="primary" disabled={isBusy} onClick={() => change(conflict.changes)}>
                Apply my change to the new revision
              </Button>
            )}
            <Button onClick={dismiss}>Keep theirs</Button>
          </div>
        </Notice>
      )}
    </div>
  );
}

const TONES = {
  plain: "border-strong",
  warn: "border-warn",
  bad: "border-bad",
  good: "border-good",
};

export function Notice({
  tone,
  children,
}: {
  tone: keyof typeof TONES;
  children: ComponentChildren;
}) {
  return (
    <div
      class={`flex flex-col items-start gap-3 rounded-2xl border bg-surface px-5 py-3 text-sm ${TONES[tone]}`}
    >
      <div class="min-w-0 max-w-full">{children}</div>
    </div>
  );
}
