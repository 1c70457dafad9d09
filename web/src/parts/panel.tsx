import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A titled section of a page. */
export function Panel({
  title,
  about,
  actions,
  class: extra = "",
  children,
}: {
  title: string;
  about?: ComponentChildren;
  actions?: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      class={`flex min-w-0 flex-col gap-4 rounded-2xl border border-line bg-surface p-4 sm:p-5 ${extra}`}
    >
      <div class="flex flex-wrap items-start gap-x-4 gap-y-2">
        <div class="min-w-0 flex-1 basis-44">
          <h2 id={id} class="font-semibold">
            {title}
          </h2>
          {about && <p class="mt-0.5 text-sm text-muted">{about}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}
