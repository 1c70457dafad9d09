import { Button } from "../parts/button.tsx";
import { askForKey } from "./account.tsx";

/** The page of a gateway that requires a key, before anybody has signed in. */
export function SignedOut() {
  return (
    <div class="m-auto flex max-w-md flex-col items-center gap-4 p-8 text-center">
      <h1 class="text-2xl font-semibold tracking-tight">Sign in to use this gateway</h1>
      <p class="text-muted">
        It requires an API key. Ask an administrator for one: they are created under "Admin", or
        with <code>joust keys add NAME</code>.
      </p>
      <Button variant="primary" onClick={askForKey}>
        Enter a key
      </Button>
    </div>
  );
}
