import { useId, useRef } from "preact/hooks";

/**
 * A button with an explanation, which works with the pointer, the keyboard and on touch screens. The browser closes the
 * explanation on Escape and on a click elsewhere.
 */
export function Hint({ about, text }: { about: string; text: string }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const place = () => {
    const [from, own] = [button.current?.getBoundingClientRect(), box.current];
    if (!from || !own) return;
    const left = Math.min(from.left, innerWidth - own.offsetWidth - MARGIN);
    own.style.left = `${Math.max(MARGIN, left)}px`;
    own.style.top = `${Math.min(from.bottom + 4, innerHeight - own.offsetHeight - MARGIN)}px`;
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        popovertarget={id}
        aria-label={`Explain: ${about}`}
        class="ml-auto flex size-6 shrink-0 items-center justify-center rounded-full border border-line text-xs text-muted hover:border-strong hover:text-ink"
      >
        ?
      </button>
      <div
        ref={box}
        id={id}
        popover="auto"
        onToggle={place}
        class="fixed m-0 w-[min(22rem,calc(100vw-1rem))] rounded-xl border border-line bg-surface p-4 text-sm text-ink shadow-lg"
      >
        {text}
      </div>
    </>
  );
}

/** Space between the explanation and the edges of the window, in pixels. */
const MARGIN = 8;
