import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * A form that a button opens within the page. The focus goes to its first control; Escape closes it; afterwards the focus
 * returns to the button, which is found by its id, or to the content of the page if the button is gone.
 */
export function FormBox({
  opener,
  onClose,
  children,
}: {
  /** Id of the button. */
  opener: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const box = useRef<HTMLDivElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const { current } = box;
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") close.current();
    };
    current?.addEventListener("keydown", onKey);
    current?.querySelector<HTMLElement>(CONTROLS)?.focus();
    return () => {
      current?.removeEventListener("keydown", onKey);
      // The button may only exist again after the form is gone.
      setTimeout(() => {
        const isFree = document.activeElement === null || document.activeElement === document.body;
        if (!isFree) return;
        const next = document.getElementById(opener) ?? document.querySelector("main");
        next?.focus({ preventScroll: true });
      });
    };
  }, []);
  return (
    <div ref={box} class="flex min-w-0 flex-col">
      {children}
    </div>
  );
}

const CONTROLS =
  "input:not(:disabled), select:not(:disabled), textarea:not(:disabled), button:not(:disabled)";
