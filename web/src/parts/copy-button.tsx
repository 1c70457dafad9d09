import { useEffect, useState } from "preact/hooks";

/** Copies a text to the clipboard and reports whether that worked. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  useEffect(() => {
    if (state === "idle") return;
    const timer = setTimeout(() => setState("idle"), 2000);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () =>
    copyText(text).then(
      () => setState("copied"),
      () => setState("failed"),
    );
  const label = { idle: "Copy", copied: "Copied", failed: "Copying is not allowed" }[state];
  return (
    <button
      type="button"
      onClick={copy}
      class="min-h-8 rounded px-2 text-sm text-muted hover:bg-sunken hover:text-ink"
    >
      <span aria-live="polite">{label}</span>
      <span class="sr-only"> {what}</span>
    </button>
  );
}

/** Falls back to execCommand: there is no clipboard API on pages served over plain HTTP. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (!isCopied) throw new Error("the browser does not allow it");
}
