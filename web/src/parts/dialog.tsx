import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A dialog over the page. Escape closes it; its content exists only while it is open. */
export function Dialog({
  label,
  isOpen,
  onClose,
  class: extra,
  children,
}: {
  label: string;
  isOpen: boolean;
  onClose: () => void;
  class: string;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (!isOpen) dialog.current?.close();
    else if (!dialog.current?.open) dialog.current?.showModal();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      onClose={onClose}
      class={`m-auto rounded-2xl border border-line bg-surface text-ink backdrop:bg-[rgb(0_0_0/0.45)] ${extra}`}
    >
      {isOpen && children}
    </dialog>
  );
}
