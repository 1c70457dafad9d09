import { useEffect, useRef, useState } from "preact/hooks";
import { keyProblem, setApiKey } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { useValue } from "../state/observable.ts";

/** Asks for an API key when the gateway requires one. */
export function KeyDialog() {
  const problem = useValue(keyProblem);
  const dialog = useRef<HTMLDialogElement>(null);
  const [key, setKey] = useState("");
  useEffect(() => {
    if (problem === undefined) dialog.current?.close();
    else if (!dialog.current?.open) dialog.current?.showModal();
  }, [problem]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="key-title"
      onClose={() => keyProblem.set(undefined)}
      class="m-auto w-[min(28rem,calc(100vw-2rem))] rounded-xl border border-line bg-surface p-6 text-ink backdrop:bg-[rgb(0_0_0/0.5)]"
    >
      <form
        class="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (key.trim() !== "") setApiKey(key.trim());
        }}
      >
        <h2 id="key-title" class="text-lg font-semibold">
          Enter an API key
        </h2>
        <p class="text-sm text-muted">{problem}</p>
        <label class="flex flex-col gap-1.5 text-sm">
          API key
          <input
            type="password"
            autocomplete="current-password"
            value={key}
            onInput={(event) => setKey(event.currentTarget.value)}
            class="min-h-10 rounded-lg border border-strong bg-page px-3 font-mono"
          />
        </label>
        <p class="text-sm text-muted">
          The key is stored in this browser and sent only to this gateway.
        </p>
        <div class="flex justify-end gap-2">
          <Button onClick={() => keyProblem.set(undefined)}>Not now</Button>
          <Button variant="primary" type="submit">
            Use this key
          </Button>
        </div>
      </form>
    </dialog>
  );
}
