import { useState } from "preact/hooks";
import { keyProblem, session } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import { Button } from "../parts/button.tsx";
import { DropMenu } from "../parts/drop-menu.tsx";
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

export function askForKey(): void {
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
  const { signOut } = usePage();
  const [problem, setProblem] = useState<string>();
  return (
    <DropMenu label={`Signed in as ${name}`} button={<Person />}>
      <div class="flex w-64 flex-col gap-3 p-4">
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
    </DropMenu>
  );
}
