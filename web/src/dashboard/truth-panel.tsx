import type { Stats, Truth } from "../api/stats.ts";
import { percent } from "../format.ts";
import { Panel } from "../parts/panel.tsx";
import { agreement, compared } from "./truth.ts";
import { TruthChart } from "./truth-chart.tsx";

/** In the sandbox the truth is known, so one can watch it being found. */
export function TruthPanel({ truth, stats }: { truth: Truth; stats: Stats }) {
  const pairs = compared(truth, stats);
  const found = agreement(pairs);
  if (!found) return null;
  return (
    <Panel
      title="Estimated against true quality"
      about="In the sandbox the truth is known. A dot for each model and category, with its 95% interval; on the diagonal, what is believed is true. Faint where little was asked: dear models are left alone unless they promise to be worth it."
    >
      <div class="grid items-center gap-6 lg:grid-cols-[15rem_1fr]">
        <dl class="grid gap-4 max-lg:grid-cols-3 max-sm:grid-cols-1">
          <Figure
            name="have their best model on top, or one within 0.02 of it"
            value={`${found.best} of ${found.categories} categories`}
          />
          <Figure name="correlation of all dots" value={found.correlation.toFixed(2)} />
          <Figure
            name="of true values inside their intervals"
            value={found.covered === null ? "\u2013" : percent(found.covered)}
          />
        </dl>
        <TruthChart pairs={pairs} />
      </div>
    </Panel>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div class="flex flex-col-reverse justify-end">
      <dt class="text-sm text-muted">{name}</dt>
      <dd class="text-2xl font-semibold tracking-tight tabular-nums">{value}</dd>
    </div>
  );
}
