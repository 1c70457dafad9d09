import { useState } from "preact/hooks";
import { found, type SavedConversation } from "../conversation/history.ts";
import { usePage } from "../page/page.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Bin, Clock, Cross } from "../parts/icons.tsx";
import { Observable, useValue } from "../state/observable.ts";
import { ago, plural } from "../text/format.ts";

/** Whether the dialog is open. The button and the dialog are in different places of the page. */
const isOpen = new Observable(false);

/** Opens the earlier conversations of this browser. Shown once there is one. */
export function HistoryButton() {
  const { conversation } = usePage();
  if (useValue(conversation.history.conversations).length === 0) return null;
  return (
    <Button variant="quiet" class="px-2!" aria-haspopup="dialog" onClick={() => isOpen.set(true)}>
      <Clock />
      <span class="max-sm:sr-only">History</span>
    </Button>
  );
}

/** The earlier conversations of this browser. */
export function HistoryDialog() {
  const { conversation } = usePage();
  const all = useValue(conversation.history.conversations);
  const isShown = useValue(isOpen);
  const close = () => isOpen.set(false);
  return (
    <Dialog
      label="History"
      isOpen={isShown}
      onClose={close}
      class="flex max-h-[85dvh] w-[min(40rem,calc(100vw-2rem))] flex-col p-0 not-open:hidden"
    >
      <Conversations all={all} close={close} />
    </Dialog>
  );
}

function Conversations({ all, close }: { all: readonly SavedConversation[]; close: () => void }) {
  const { conversation } = usePage();
  const [search, setSearch] = useState("");
  const shown = found(all, search);
  const now = Date.now();
  return (
    <>
      <div class="flex items-center gap-2 border-b border-line p-3">
        <label class="flex-1">
          <span class="sr-only">Search the history</span>
          <input
            type="search"
            value={search}
            placeholder="Search the history"
            class="min-h-10 w-full rounded-lg border border-strong bg-page px-3"
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
        <Button variant="quiet" class="px-2!" onClick={close}>
          <Cross />
          <span class="sr-only">Close</span>
        </Button>
      </div>
      <ul class="min-h-24 overflow-y-auto p-2">
        {shown.map((one) => (
          <li key={one.session} class="flex items-center gap-1">
            <button
              type="button"
              onClick={() => {
                conversation.resume(one);
                close();
              }}
              class="flex min-w-0 flex-1 flex-col rounded-lg px-2 py-1.5 text-left hover:bg-sunken focus-visible:-outline-offset-2"
            >
              <span class="line-clamp-2 text-sm">{titleOf(one)}</span>
              <span class="text-xs text-muted">
                {ago(one.at, now)}, {plural(one.exchanges.length, "question")}
                {votesIn(one) > 0 && `, ${plural(votesIn(one), "vote")}`}
              </span>
            </button>
            <Button variant="quiet" class="px-2!" onClick={() => conversation.forget(one.session)}>
              <Bin />
              <span class="sr-only">Delete {titleOf(one)}</span>
            </Button>
          </li>
        ))}
        {shown.length === 0 && (
          <li class="px-2 py-4 text-sm text-muted">
            {all.length === 0
              ? "The history is empty."
              : "No conversation contains all of these words."}
          </li>
        )}
      </ul>
      <div class="flex flex-wrap items-center gap-2 border-t border-line p-3 text-sm text-muted">
        <p class="flex-1 basis-48">
          Stored in this browser only, without images. Votes that were sent stay.
        </p>
        {all.length > 0 && (
          <Button
            onClick={() => {
              if (confirm("Delete all conversations of this browser?")) conversation.forget();
            }}
          >
            Delete all
          </Button>
        )}
      </div>
    </>
  );
}

function titleOf({ exchanges }: SavedConversation): string {
  return exchanges[0]?.prompt || "An image";
}

function votesIn({ exchanges }: SavedConversation): number {
  return exchanges.filter(({ vote }) => vote !== undefined).length;
}
