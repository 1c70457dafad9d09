import { useState } from "preact/hooks";
import type { Standing, Stats } from "../../../src/client.ts";
import { colourOf } from "../charts/colours.ts";
import { IntervalDot } from "../parts/interval-dot.tsx";
import { Panel } from "../parts/panel.tsx";
import { Select } from "../parts/select.tsx";
import { percent } from "../text/format.ts";
import { topicOf } from "../text/topics.ts";
import { WINS_HINT, winsOf } from "../text/wins.ts";

const OVERALL = "";

/** Estimated wins of each model with their interval, overall or for one category. */
export function Leaderboard({ stats }: { stats: Stats }) {
  const { leaderboard, models } = stats;
  const [category, setCategory] = useState(OVERALL);
  const chosen = leaderboard.categories.find((one) => one.category === category);
  const standings = chosen?.models ?? leaderboard.overall;
  const names = models.map(({ model }) => model);
  const options = [
    { value: OVERALL, text: "Overall" },
    ...leaderboard.categories.map((one) => ({
      value: one.category,
      text: `${topicOf(one.category)} (${percent(one.share)})`,
    })),
  ];
  return (
    <Panel
      title="Leaderboard"
      about="Of 100 comparisons with the pool's average answer, how many each model would win, with 95% intervals. A tie is half a win. Best: the probability of being the best model."
      actions={
        <Select
          label="Category"
          options={options}
          value={chosen?.category ?? OVERALL}
          onChange={setCategory}
        />
      }
    >
      <Standings standings={standings} names={names} />
    </Panel>
  );
}

function Standings({
  standings,
  names,
}: {
  standings: readonly Standing[];
  names: readonly string[];
}) {
  const ends = standings.flatMap(({ value, lo, hi }) => [value, lo ?? value, hi ?? value]);
  const min = Math.min(-0.01, ...ends);
  const max = Math.max(0.01, ...ends);
  const at = (value: number) => `${(100 * (value - min)) / (max - min)}%`;
  return (
    <table class="w-full flex-1 border-separate border-spacing-y-1 text-sm">
      <thead>
        <tr class="text-xs text-muted">
          <th scope="col">
            <span class="sr-only">Model</span>
          </th>
          <th scope="col">
            <span class="sr-only">Interval</span>
          </th>
          <th scope="col" class="text-right font-normal whitespace-nowrap">
            <abbr title={WINS_HINT} class="no-underline">
              Wins of 100
            </abbr>
          </th>
          <th scope="col" class="pl-3 text-right font-normal max-sm:hidden">
            <abbr title="Probability of being the best model" class="no-underline">
              Best
            </abbr>
          </th>
        </tr>
      </thead>
      <tbody>
        {standings.map(({ model, value, lo, hi, best }) => (
          <tr key={model} data-model={model}>
            <th scope="row" class="w-36 max-w-36 truncate pr-3 text-left font-normal" title={model}>
              {model}
            </th>
            <td class="w-full">
              <IntervalDot
                at={at}
                value={value}
                band={lo === null || hi === null ? undefined : [lo, hi]}
                colour={colourOf(names, model)}
              />
              {lo !== null && hi !== null && (
                <span class="sr-only">
                  {winsOf(lo)} to {winsOf(hi)}
                </span>
              )}
            </td>
            <td class="pl-3 text-right whitespace-nowrap tabular-nums" title={WINS_HINT}>
              {winsOf(value)}
            </td>
            <td
              class="pl-3 text-right whitespace-nowrap text-muted tabular-nums max-sm:hidden"
              title="Probability of being the best model"
            >
              {best === null ? "" : percent(best)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
