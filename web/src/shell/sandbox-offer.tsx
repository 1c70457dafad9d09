import { useState } from "preact/hooks";
import { isAdmin, joust, session } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import { useRead } from "../page/use-read.ts";
import { Button } from "../parts/button.tsx";
import { useValue } from "../state/observable.ts";
import { load, save } from "../state/storage.ts";

/** Offers two ways after the first start: real models, or the sandbox. */
export function SandboxOffer() {
  const { serving, route } = usePage();
  const { page } = useValue(route);
  const isSandbox = useValue(serving)?.isSandbox === true;
  const mayChange = isAdmin(useValue(session));
  const [isClosed, setIsClosed] = useState(() => load(localStorage, "sandbox") === true);
  if (!isSandbox || !mayChange || isClosed || page !== "arena") return null;
  return (
    <Offer
      close={() => {
        save(localStorage, "sandbox", true);
        setIsClosed(true);
      }}
    />
  );
}

function Offer({ close }: { close: () => void }) {
  const { data } = useRead(() => joust.configuration());
  if (data?.managed_by !== "store") return null;
  return (
    <section
      aria-label="First start"
      class="flex flex-wrap items-center justify-center gap-x-4 gap-y-2 border-b border-line bg-tint px-4 py-2 text-sm"
    >
      <p>These models are simulated, and nothing is spent.</p>
      <div class="flex flex-wrap gap-2">
        <a
          href="#/admin"
          class="inline-flex min-h-10 items-center rounded-lg bg-accent px-2.5 font-medium sm:px-3.5 text-on-accent"
        >
          Paste a provider key
        </a>
        <Button class="max-sm:px-2.5!" onClick={close}>
          Stay in the sandbox
        </Button>
      </div>
    </section>
  );
}
