import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { Shuffle } from "../parts/icons.tsx";
import { usePage } from "../shell/page.ts";
import { useValue } from "../state/observable.ts";
import { topicOf } from "../topics.ts";
import { Composer } from "./composer.tsx";
import { oneOfEach, type Suggestion } from "./suggestions.ts";

/** Before the first question. */
export function Welcome({
  suggestions,
  ask,
}: {
  suggestions: readonly Suggestion[];
  ask: (prompt: string) => void;
}) {
  const { settings, serving } = usePage();
  const { isDuel } = useValue(settings);
  const served = useValue(serving);
  const [from, setFrom] = useState(0);
  const shown = oneOfEach(suggestions, from, 6);
  return (
    <div class="mx-auto flex w-full max-w-3xl flex-1 flex-col justify-center gap-8 px-4 py-10">
      <div class="flex flex-col gap-3 text-center">
        <h1 class="text-3xl font-semibold tracking-tight sm:text-4xl">
          {isDuel ? "Two answers. Which is better?" : "One answer, from the right model."}
        </h1>
        <p class="mx-auto max-w-xl text-muted">
          {isDuel
            ? "Every vote teaches Joust which model to send the next question to."
            : "Joust sends your question to the model most likely to please at the price you accept."}
          {served?.isSandbox &&
            ` This is a sandbox: ${served.models.length} simulated models, no keys, no cost.`}
        </p>
      </div>
      <Composer ask={ask} />
      {shown.length > 0 && (
        <section aria-label="Suggestions" class="flex flex-col gap-3">
          <ul class="grid gap-2.5 sm:grid-cols-2">
            {shown.map(({ category, query }) => (
              <li key={query}>
                <button
                  type="button"
                  onClick={() => ask(query)}
                  class="flex h-full w-full flex-col gap-1 rounded-xl border border-line bg-surface px-4 py-3 text-left transition-colors hover:border-accent"
                >
                  <span class="text-xs text-muted">{topicOf(category)}</span>
                  <span class="line-clamp-2 text-sm">{query}</span>
                </button>
              </li>
            ))}
          </ul>
          <Button look="quiet" class="self-center" onClick={() => setFrom(from + 17)}>
            <Shuffle /> Other questions
          </Button>
        </section>
      )}
    </div>
  );
}
