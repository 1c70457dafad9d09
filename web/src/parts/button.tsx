import type { ButtonHTMLAttributes, Ref } from "preact";

type Variant = "primary" | "plain" | "quiet";

const VARIANTS: Readonly<Record<Variant, string>> = {
  primary: "bg-accent text-on-accent hover:opacity-90 border border-transparent font-medium",
  plain: "bg-surface text-ink border border-line hover:border-strong",
  quiet: "text-muted hover:bg-sunken hover:text-ink border border-transparent",
};

/** Classes of a button, which is at least 40 px high, so that it can be touched with a finger. */
function buttonClass(variant: Variant = "plain"): string {
  return `inline-flex min-h-10 items-center justify-center gap-2 rounded-lg px-3.5 text-sm transition-colors disabled:opacity-45 disabled:hover:border-line ${VARIANTS[variant]}`;
}

export function Button({
  variant = "plain",
  class: extra = "",
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement> } & {
  variant?: Variant;
  class?: string;
}) {
  return <button type="button" class={`${buttonClass(variant)} ${extra}`} {...rest} />;
}
