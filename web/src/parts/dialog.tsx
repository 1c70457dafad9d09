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
  /** Number of closings by this component whose events have not arrived yet. The dialog may be open again by then. */
  const expected = useRef(0);
  useEffect(() => {
    const { current } = dialog;
    if (!current || current.open === isOpen) return;
    if (isOpen) return current.showModal();
    expected.current++;
    current.close();
  }, [isOpen]);
  const closed = () => {
    if (expected.current > 0) expected.current--;
    else onClose();
  };
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      onClose={closed}
      class={`m-auto rounded-2xl border border-line bg-surface text-ink backdrop:bg-[rgb(0_0_0/0.45)] ${extra}`}
    >
      {isOpen && children}
    </dialog>
  );
}
