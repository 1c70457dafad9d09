import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isStreaming } from "../conversation/exchange.ts";
import { usePage } from "../page/page.ts";
import { Button } from "../parts/button.tsx";
import { Plus, Send, Stop } from "../parts/icons.tsx";
import { Segmented } from "../parts/segmented.tsx";
import { Select } from "../parts/select.tsx";
import { useValue } from "../state/observable.ts";

/** The input for a question. Enter sends it; Shift+Enter starts a new line. */
export function Composer({
  ask,
  isFollowUp = false,
}: {
  ask: (prompt: string) => void;
  isFollowUp?: boolean;
}) {
  const { settings, conversation, serving } = usePage();
  const set = useValue(settings);
  const last = useValue(conversation.exchanges).at(-1);
  const routers = useValue(serving)?.routers ?? [];
  const [text, setText] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  const isBusy = last !== undefined && isStreaming(last);
  useLayoutEffect(() => {
    const { current } = area;
    if (!current) return;
    current.style.height = "auto";
    current.style.height = `${Math.min(240, current.scrollHeight + 2)}px`;
  }, [text]);
  const send = () => {
    const prompt = text.trim();
    if (prompt === "") return;
    setText("");
    ask(prompt);
  };
  return (
    <form
      class="flex flex-col rounded-2xl border border-strong bg-surface shadow-sm has-[textarea:focus-visible]:border-accent has-[textarea:focus-visible]:outline-1 has-[textarea:focus-visible]:outline-accent"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="sr-only" for="prompt">
        Your question
      </label>
      <textarea
        id="prompt"
        ref={area}
        rows={isFollowUp ? 1 : 2}
        value={text}
        placeholder={isFollowUp ? "Ask a follow-up" : "Ask anything"}
        enterkeyhint="send"
        class="resize-none bg-transparent px-4 pt-3 pb-1 outline-none placeholder:text-muted"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class="flex flex-wrap items-center gap-2 p-2">
        <Segmented
          label="Answers"
          options={MODES}
          value={set.isDuel ? "duel" : "single"}
          onChange={(mode) => settings.set({ ...set, isDuel: mode === "duel" })}
        />
        {routers.length > 1 && (
          <Select
            label="Router"
            options={routers.map((name) => ({ value: name, text: name }))}
            value={set.router ?? routers[0]!}
            onChange={(router) => settings.set({ ...set, router })}
          />
        )}
        <div class="ml-auto flex items-center gap-2">
          {isFollowUp && (
            <Button variant="quiet" onClick={() => conversation.startOver()}>
              <Plus />
              <span class="max-sm:sr-only">New conversation</span>
            </Button>
          )}
          {isBusy && text.trim() === "" ? (
            <Button onClick={() => conversation.stop()}>
              <Stop /> Stop
            </Button>
          ) : (
            <Button variant="primary" type="submit" disabled={text.trim() === ""}>
              <Send /> <span class="max-sm:sr-only">Send</span>
            </Button>
          )}
        </div>
      </div>
    </form>
  );
}

const MODES = [
  { value: "duel", text: "Duel" },
  { value: "single", text: "One answer" },
] as const;
