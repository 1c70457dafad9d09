import { useState } from "preact/hooks";
import type { Question } from "../conversation/conversation.ts";
import { usePage } from "../page/page.ts";
import { Button } from "../parts/button.tsx";
import { Shuffle } from "../parts/icons.tsx";
import { useValue } from "../state/observable.ts";
import { topicOf } from "../text/topics.ts";
import { Composer } from "./composer.tsx";
import { InviteButton } from "./invite.tsx";
import { onePerCategory, type Suggestion } from "./suggestions.ts";

/** The arena before the first question: a short explanation, the input and suggestions. */
export function Welcome({
  suggestions,
  ask,
  router,
}: {
  suggestions: readonly Suggestion[];
  ask: (question: Question) => void;
  router: string;
}) {
  const { settings, serving } = usePage();
  const { isDuel } = useValue(settings);
  const served = useValue(serving);
  const [from, setFrom] = useState(0);
  const shown = onePerCategory(suggestions, from, 6);
  return (
    <div class="mx-auto flex w-full max-w-3xl flex-1 flex-col justify-center gap-8 px-4 py-10">
      <div class="flex flex-col gap-3 text-center">
        <h1 class="text-3xl font-semibold tracking-tight sm:text-4xl">
          {isDuel ? "Two answers. Which one is better?" : "One answer, from the right model."}
        </h1>
        <p class="mx-auto max-w-xl text-muted">
          {isDuel
            ? "Your votes teach Joust which model should answer which question."
            : "Joust sends your question to the model that offers the best quality for its price."}
          {served?.isSandbox &&
            ` This is the sandbox: ${served.models.length} simulated models, no keys, no cost.`}
        </p>
      </div>
      <Composer ask={ask} router={router} />
      {shown.length > 0 && (
        <section aria-label="Suggestions" class="flex flex-col gap-3">
          <ul class="grid gap-2.5 sm:grid-cols-2">
            {shown.map(({ category, query }) => (
              <li key={query}>
                <button
                  type="button"
                  onClick={() => ask({ prompt: query })}
                  class="flex h-full w-full flex-col gap-1 rounded-xl border border-line bg-surface px-4 py-3 text-left transition-colors hover:border-accent"
                >
                  <span class="text-xs text-muted">{topicOf(category)}</span>
                  <span class="line-clamp-2 text-sm">{query}</span>
                </button>
              </li>
            ))}
          </ul>
          <Button variant="quiet" class="self-center" onClick={() => setFrom(from + 17)}>
            <Shuffle /> More questions
          </Button>
        </section>
      )}
      <InviteButton />
    </div>
  );
}
