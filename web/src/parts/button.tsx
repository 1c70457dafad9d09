import type { ButtonHTMLAttributes, Ref } from "preact";

type Look = "primary" | "plain" | "quiet";

const LOOKS: Readonly<Record<Look, string>> = {
  primary: "bg-accent text-on-accent hover:opacity-90 border border-transparent font-medium",
  plain: "bg-surface text-ink border border-line hover:border-strong",
  quiet: "text-muted hover:bg-sunken hover:text-ink border border-transparent",
};

/** At least 40 px high: fingers are thicker than pointers. */
function buttonClass(look: Look = "plain"): string {
  return `inline-flex min-h-10 items-center justify-center gap-2 rounded-lg px-3.5 text-sm transition-colors disabled:opacity-45 disabled:hover:border-line ${LOOKS[look]}`;
}

export function Button({
  look = "plain",
  class: extra = "",
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement> } & {
  look?: Look;
  class?: string;
}) {
  return <button type="button" class={`${buttonClass(look)} ${extra}`} {...rest} />;
}
