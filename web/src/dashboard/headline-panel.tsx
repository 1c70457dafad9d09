import type { Stats, Tradeoff } from "../../../src/client.ts";
import { headlineOf } from "./headline.ts";
import { WINDOWS, type WindowHours } from "./windows.ts";

/** One sentence that says what routing is worth, with its evidence. */
export function HeadlinePanel({
  stats,
  tradeoff,
  hours,
}: {
  stats: Stats;
  tradeoff: Tradeoff | undefined;
  hours: WindowHours;
}) {
  const { text } = WINDOWS.find(({ value }) => value === hours)!;
  const { sentence, evidence } = headlineOf(stats, tradeoff, text.toLowerCase());
  return (
    <section
      aria-label="Result"
      class="flex flex-col gap-3 rounded-2xl border border-line bg-surface p-4 sm:p-5"
    >
      <p class="max-w-5xl text-lg leading-snug font-medium sm:text-xl">{sentence}</p>
      {evidence.length > 0 && (
        <details class="text-sm">
          <summary class="w-fit text-muted hover:text-ink">Evidence</summary>
          <ul class="mt-2 flex list-disc flex-col gap-1 pl-5">
            {evidence.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
