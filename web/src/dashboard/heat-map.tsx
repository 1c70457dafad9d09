import type { Standing, Stats } from "../../../src/client.ts";
import { useMedia } from "../parts/media.ts";
import { Panel } from "../parts/panel.tsx";
import { topicOf } from "../text/topics.ts";
import { WINS_HINT, winsOf } from "../text/wins.ts";

/** Estimated quality of each model in each category. Uncertain estimates have fainter colours. */
export function HeatMap({ stats }: { stats: Stats }) {
  const { overall, categories } = stats.leaderboard;
  const isNarrow = useMedia("(max-width: 39.99rem)");
  const most = Math.max(
    0.01,
    ...categories.flatMap(({ models }) => models.map(({ value }) => Math.abs(value))),
  );
  return (
    <Panel
      title="Quality by category"
      about="Of 100 comparisons with the pool's average answer in the category, how many each model would win, with one standard deviation. Faint colours are uncertain estimates."
    >
      <section class="-mx-1 overflow-x-auto px-1" aria-label="Quality by category" tabIndex={0}>
        <table
          class="w-full table-fixed border-separate border-spacing-0.5 text-sm"
          style={{
            minWidth: `${isNarrow ? 5.5 + 1.9 * categories.length : 8.5 + 4.75 * categories.length}rem`,
          }}
        >
          <thead>
            <tr class="align-bottom">
              <th scope="col" class="w-22 sm:w-34">
                <span class="sr-only">Model</span>
              </th>
              {categories.map(({ category }) => (
                <th
                  key={category}
                  scope="col"
                  title={category}
                  class="pb-1 text-center text-xs font-normal text-muted"
                >
                  <span class="max-sm:mx-auto max-sm:block max-sm:w-fit max-sm:rotate-180 max-sm:[writing-mode:vertical-rl]">
                    {topicOf(category)}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {overall.map(({ model }) => (
              <tr key={model}>
                <th
                  scope="row"
                  class="sticky left-0 bg-surface pr-2 text-left font-normal break-words max-sm:text-xs sm:truncate"
                  title={model}
                >
                  {model}
                </th>
                {categories.map(({ category, models }) => (
                  <Cell
                    key={category}
                    standing={models.find((one) => one.model === model)}
                    most={most}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Panel>
  );
}

function Cell({ standing, most }: { standing: Standing | undefined; most: number }) {
  if (!standing) return <td />;
  const { value, sd } = standing;
  const size = Math.abs(value);
  const certainty = sd === null ? 1 : size / (size + sd);
  const strength = Math.round(85 * Math.min(1, size / most) * certainty);
  const hue = value >= 0 ? "var(--accent)" : "var(--warn)";
  return (
    <td
      title={WINS_HINT}
      class="h-11 rounded text-center max-sm:text-xs sm:px-1 leading-tight tabular-nums"
      style={{ background: `color-mix(in srgb, ${hue} ${Math.min(45, strength)}%, var(--page))` }}
    >
      {winsOf(value)}
      {sd !== null && (
        <span class="block text-xs max-sm:text-[0.625rem]">±{Math.ceil(50 * sd)}</span>
      )}
    </td>
  );
}
