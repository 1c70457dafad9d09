import type { Stats, Truth } from "../../../src/client.ts";
import { Panel } from "../parts/panel.tsx";
import { percent } from "../text/format.ts";
import { agreement, compare } from "./truth.ts";
import { TruthChart } from "./truth-chart.tsx";

/** Compares the estimates with the true quality, which the sandbox knows. */
export function TruthPanel({ truth, stats }: { truth: Truth; stats: Stats }) {
  const pairs = compare(truth, stats);
  const found = agreement(pairs);
  if (!found) return null;
  return (
    <Panel
      title="Estimated and true quality"
      about="The sandbox knows the true quality. Each dot is one model in one category, with its 95% interval; on the diagonal, the estimate is exact. Faint dots have little data: the router tries expensive models only if they promise to be worth their price."
    >
      <div class="grid items-center gap-6 lg:grid-cols-[15rem_1fr]">
        <dl class="grid gap-4 max-lg:grid-cols-3 max-sm:grid-cols-1">
          <Figure
            name="have the best model in first place, or one within 1 win of 100 of it"
            value={`${found.best} of ${found.categories} categories`}
          />
          <Figure
            name="correlation of estimated and true quality"
            value={found.correlation.toFixed(2)}
          />
          <Figure
            name="of the true values are inside their intervals"
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
