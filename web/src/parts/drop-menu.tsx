import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A button that opens a box below it. Escape, a click elsewhere, a chosen link and leaving it with the Tab key close it. */
export function DropMenu({
  label,
  button,
  side = "right",
  class: extra = "",
  children,
}: {
  /** Name of the button; without it, its content is the name. */
  label?: string;
  button: ComponentChildren;
  /** The edge of the button at which the box is aligned. */
  side?: "left" | "right";
  class?: string;
  children: ComponentChildren;
}) {
  const menu = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = () => menu.current?.removeAttribute("open");
    const isOutside = (target: EventTarget | null) => !menu.current?.contains(target as Node);
    const onClick = ({ target }: Event) => {
      const isLink = target instanceof Element && target.closest("a") !== null;
      if (isLink || isOutside(target)) close();
    };
    const onKey = ({ key }: KeyboardEvent) => {
      if (key !== "Escape" || !menu.current?.open) return;
      close();
      menu.current.querySelector("summary")?.focus();
    };
    const onLeave = ({ relatedTarget }: FocusEvent) => {
      if (relatedTarget !== null && isOutside(relatedTarget)) close();
    };
    const { current } = menu;
    document.addEventListener("click", onClick);
    document.addEventListener("keydown", onKey);
    current?.addEventListener("focusout", onLeave);
    return () => {
      document.removeEventListener("click", onClick);
      document.removeEventListener("keydown", onKey);
      current?.removeEventListener("focusout", onLeave);
    };
  }, []);
  return (
    <details ref={menu} class="relative">
      <summary
        aria-label={label}
        class={`flex min-h-10 min-w-10 list-none items-center justify-center gap-1.5 rounded-lg text-muted hover:bg-sunken hover:text-ink ${extra}`}
      >
        {button}
      </summary>
      <div
        class={`absolute z-30 mt-1 flex flex-col rounded-xl border border-line bg-surface text-sm shadow-lg ${side === "right" ? "right-0" : "left-0"}`}
      >
        {children}
      </div>
    </details>
  );
}
