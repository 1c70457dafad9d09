import { useRef, useState } from "preact/hooks";
import { keyProblem, sentenceOf, signIn } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Form, useAction } from "../parts/form.tsx";
import { useValue } from "../state/observable.ts";

/** Asks for an API key when the gateway requires one. It stays open until the gateway has accepted a key. */
export function KeyDialog() {
  const problem = useValue(keyProblem);
  return (
    <Dialog
      label="Sign in"
      isOpen={problem !== undefined}
      onClose={close}
      class="w-[min(28rem,calc(100vw-2rem))] p-6"
    >
      <KeyForm problem={problem!} />
    </Dialog>
  );
}

function close(): void {
  keyProblem.set(undefined);
}

function KeyForm({ problem }: { problem: string }) {
  const input = useRef<HTMLInputElement>(null);
  const [key, setKey] = useState("");
  const { run, isBusy, problem: failure } = useAction(sentenceOf);
  const submit = async () => {
    const isDone = await run(async () => {
      if (key.trim() === "") throw new Error("Enter a key.");
      await signIn(key.trim());
    });
    if (isDone) return;
    input.current?.focus();
    input.current?.select();
  };
  return (
    <Form class="flex flex-col gap-4" onSubmit={() => !isBusy && submit()}>
      <h2 class="text-lg font-semibold">Sign in</h2>
      <p class="text-sm text-muted">{problem}</p>
      <label class="flex flex-col gap-1.5 text-sm">
        API key
        <input
          ref={input}
          type="password"
          autocomplete="current-password"
          value={key}
          aria-invalid={failure !== undefined}
          aria-describedby="key-failure"
          onInput={(event) => setKey(event.currentTarget.value)}
          class="min-h-10 rounded-lg border border-strong bg-page px-3 font-mono aria-invalid:border-bad"
        />
      </label>
      <p id="key-failure" role="alert" class="text-sm text-bad empty:hidden">
        {failure}
      </p>
      <p class="text-sm text-muted">
        The page exchanges the key for a session that expires, and does not store the key.
      </p>
      <div class="flex justify-end gap-2">
        <Button onClick={close}>Not now</Button>
        <Button variant="primary" type="submit" disabled={isBusy}>
          {isBusy ? "Signing in\u2026" : "Sign in"}
        </Button>
      </div>
    </Form>
  );
}
