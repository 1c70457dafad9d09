import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Question } from "../conversation/conversation.ts";
import { isStreaming } from "../conversation/exchange.ts";
import { usePage } from "../page/page.ts";
import { Button } from "../parts/button.tsx";
import { Form } from "../parts/form.tsx";
import { Cross, Picture, Plus, Send, Sliders, Stop } from "../parts/icons.tsx";
import { Segmented } from "../parts/segmented.tsx";
import { Select } from "../parts/select.tsx";
import { useValue } from "../state/observable.ts";
import { HistoryButton } from "./history-dialog.tsx";
import { imagesIn, MOST_IMAGES, readImage } from "./images.ts";
import { changedOptions, Options } from "./options.tsx";

/** The input for a question. Enter sends it; Shift+Enter starts a new line. */
export function Composer({
  ask,
  router,
  isFollowUp = false,
  takesFocus = true,
}: {
  ask: (question: Question) => void;
  router: string;
  isFollowUp?: boolean;
  /** Whether the field has the focus when it appears. */
  takesFocus?: boolean;
}) {
  const { settings, conversation, serving } = usePage();
  const set = useValue(settings);
  const last = useValue(conversation.exchanges).at(-1);
  const routers = useValue(serving)?.routers ?? [];
  const [text, setText] = useState("");
  const [isOpen, setIsOpen] = useState(false);
  const { images, problem, add, remove, clear } = useImages();
  const area = useRef<HTMLTextAreaElement>(null);
  const optionsId = useId();
  const isBusy = last !== undefined && isStreaming(last);
  const isEmpty = text.trim() === "" && images.length === 0;
  const changed = changedOptions(set);
  useLayoutEffect(() => {
    const { current } = area;
    if (!current) return;
    current.style.height = "auto";
    current.style.height = `${Math.min(240, current.scrollHeight + 2)}px`;
  }, [text]);
  // On a touch screen the focus would open the keyboard over the page.
  useEffect(() => {
    if (takesFocus && !matchMedia("(pointer: coarse)").matches) {
      area.current?.focus({ preventScroll: true });
    }
  }, []);
  const send = () => {
    if (isEmpty) return;
    setText("");
    clear();
    ask({ prompt: text.trim(), images });
  };
  return (
    <Form
      class="flex flex-col rounded-2xl border border-strong bg-surface shadow-sm has-[#prompt:focus-visible]:border-accent has-[#prompt:focus-visible]:outline-1 has-[#prompt:focus-visible]:outline-accent"
      onSubmit={send}
      // An invalid option has no effect, and says so.
      noValidate
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
        onPaste={(event) => {
          const files = imagesIn(event.clipboardData?.files);
          if (files.length > 0) event.preventDefault();
          add(files);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      {images.length > 0 && (
        <ul class="flex flex-wrap gap-2 px-4 py-1" aria-label="Attached images">
          {images.map((url, i) => (
            <li key={url} class="relative">
              <img
                src={url}
                alt={`Attachment ${i + 1}`}
                class="h-16 rounded-lg border border-line"
              />
              <button
                type="button"
                aria-label={`Remove image ${i + 1}`}
                onClick={() => remove(url)}
                class="absolute -top-2 -right-2 flex size-6 items-center justify-center rounded-full border border-line bg-surface"
              >
                <Cross />
              </button>
            </li>
          ))}
        </ul>
      )}
      {problem !== undefined && <p class="px-4 text-sm text-bad">{problem}</p>}
      <div class="flex flex-wrap items-center gap-0.5 p-2 sm:gap-2">
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
            value={router}
            onChange={(name) => settings.set({ ...set, router: name, models: [] })}
          />
        )}
        <AttachButton add={add} />
        <Button
          variant="quiet"
          class="px-2!"
          aria-expanded={isOpen}
          aria-controls={isOpen ? optionsId : undefined}
          onClick={() => setIsOpen(!isOpen)}
        >
          <Sliders />
          <span class="max-sm:sr-only">Options</span>
          {changed > 0 && (
            <span class="rounded-full bg-accent px-1.5 text-xs text-on-accent">
              {changed}
              <span class="sr-only"> changed</span>
            </span>
          )}
        </Button>
        <HistoryButton />
        <div class="ml-auto flex items-center gap-0.5 sm:gap-2">
          {isFollowUp && (
            <Button variant="quiet" class="px-2!" onClick={() => conversation.startOver()}>
              <Plus />
              <span class="max-sm:sr-only">New conversation</span>
            </Button>
          )}
          {isBusy && isEmpty ? (
            <Button onClick={() => conversation.stop()}>
              <Stop /> Stop
            </Button>
          ) : (
            <Button variant="primary" type="submit" class="max-sm:px-2.5!" disabled={isEmpty}>
              <Send /> <span class="max-sm:sr-only">Send</span>
            </Button>
          )}
        </div>
      </div>
      {isOpen && <Options id={optionsId} router={router} />}
    </Form>
  );
}

const MODES = [
  { value: "duel", text: "Duel" },
  { value: "single", text: "One", detail: "answer" },
] as const;

function AttachButton({ add }: { add: (files: readonly File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept="image/*"
        multiple
        hidden
        onChange={(event) => {
          add(imagesIn(event.currentTarget.files ?? undefined));
          event.currentTarget.value = "";
        }}
      />
      <Button variant="quiet" class="px-2!" onClick={() => input.current?.click()}>
        <Picture />
        <span class="sr-only">Attach an image</span>
      </Button>
    </>
  );
}

/** The attached images as data URLs. */
function useImages() {
  const [images, setImages] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<string>();
  const add = async (files: readonly File[]) => {
    setProblem(undefined);
    for (const file of files) {
      try {
        const url = await readImage(file);
        setImages((all) => (all.includes(url) ? all : [...all, url].slice(0, MOST_IMAGES)));
      } catch {
        setProblem(`${file.name || "The image"} cannot be read as an image.`);
      }
    }
  };
  return {
    images,
    problem,
    add,
    remove: (url: string) => setImages((all) => all.filter((one) => one !== url)),
    clear: () => setImages([]),
  };
}
