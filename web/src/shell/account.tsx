import { useEffect, useRef, useState } from "preact/hooks";
import { keyProblem, session, signOut } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { Person } from "../parts/icons.tsx";
import { useValue } from "../state/observable.ts";
import { clockTime } from "../text/format.ts";

/** The key that is signed in, with a way to sign out; or a way to sign in. Nothing if no key is required. */
export function Account() {
  const value = useValue(session);
  if (!value?.required) return null;
  if (!value.key) {
    return (
      <Button variant="primary" onClick={askForKey}>
        Sign in
      </Button>
    );
  }
  return <Menu name={value.key.name} scopes={value.key.scopes} expiresAt={value.expires_at} />;
}

function askForKey(): void {
  keyProblem.set("Sign in with an API key of this gateway.");
}

function Menu({
  name,
  scopes,
  expiresAt,
}: {
  name: string;
  scopes: readonly string[];
  expiresAt: string | undefined;
}) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const close = (event: Event) => {
      const isOutside = !menu.current?.contains(event.target as Node);
      const isEscape = event instanceof KeyboardEvent && event.key === "Escape";
      if (menu.current && (isEscape || (event.type === "click" && isOutside))) {
        menu.current.open = false;
      }
    };
    document.addEventListener("click", close);
    document.addEventListener("keydown", close);
    return () => {
      document.removeEventListener("click", close);
      document.removeEventListener("keydown", close);
    };
  }, []);
  return (
    <details ref={menu} class="relative">
      <summary
        aria-label={`Signed in as ${name}`}
        class="flex size-10 list-none items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink"
      >
        <Person />
      </summary>
      <div class="absolute right-0 z-30 mt-1 flex w-64 flex-col gap-3 rounded-xl border border-line bg-surface p-4 text-sm shadow-lg">
        <p>
          Signed in with the key <strong>{name}</strong> ({scopes.join(", ")}).
        </p>
        {expiresAt && (
          <p class="text-muted">The session ends on {clockTime(Date.parse(expiresAt))}.</p>
        )}
        {problem && <p class="text-bad">{problem}</p>}
        <Button onClick={() => signOut().catch((error: Error) => setProblem(error.message))}>
          Sign out
        </Button>
        <Button variant="quiet" onClick={askForKey}>
          Use another key
        </Button>
      </div>
    </details>
  );
}
