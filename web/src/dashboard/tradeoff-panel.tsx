import { useState } from "preact/hooks";
import type { Tradeoff, TradeoffPoint } from "../../../src/client.ts";
import { isAdmin, session } from "../api/client.ts";
import { colourOf } from "../charts/colours.ts";
import { usePage } from "../page/page.ts";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Legend } from "../parts/legend.tsx";
import { Panel } from "../parts/panel.tsx";
import { useValue } from "../state/observable.ts";
import { dollars, percent, plural, signed } from "../text/format.ts";
import { hundred } from "../text/wins.ts";
import { ParetoChart } from "./pareto-chart.tsx";

/** Shows the effect of another cost-quality trade-off before it is set. */
export function TradeoffPanel({
  tradeoff,
  models,
}: {
  tradeoff: Tradeoff;
  models: readonly string[];
}) {
  const { settings } = usePage();
  const signedIn = useValue(session);
  const set = useValue(settings);
  const { current, points, recent_queries: queries } = tradeoff;
  const [chosen, setChosen] = useState(set.tradeoff ?? current);
  const [now, then] = [nearest(points, current), nearest(points, chosen)];
  const order = models.filter((name) => (then.shares[name] ?? 0) > 0);
  if (queries === 0) {
    return (
      <Panel title="Cost-quality trade-off">
        <p class="text-sm text-muted">There are no requests yet, so there is nothing to compare.</p>
      </Panel>
    );
  }
  return (
    <Panel
      title="Cost-quality trade-off"
      about={`Effect of another setting on the last ${plural(queries, "request")}, estimated with the current posterior.`}
    >
      <label class="flex flex-col text-sm">
        <span>
          Trade-off <strong>{chosen}</strong> of 10
        </span>
        <input
          type="range"
          min={0}
          max={10}
          step={0.5}
          value={chosen}
          class="h-8 w-full accent-accent"
          aria-valuetext={`${chosen}: ${effect(now, then)}`}
          onInput={(event) => setChosen(Number(event.currentTarget.value))}
        />
        <span class="flex justify-between text-xs text-muted" aria-hidden="true">
          <span>best quality</span>
          <span>lowest cost</span>
        </span>
      </label>
      <p class="text-lg" aria-live="polite">
        {chosen === current ? "This is the current setting of the router." : effect(now, then)}
      </p>
      <dl class="grid grid-cols-2 gap-4 text-sm sm:max-w-md">
        <Figure
          name="cost per request"
          value={then.cost === null ? "unknown" : dollars(then.cost)}
          before={now.cost === null ? "" : dollars(now.cost)}
        />
        <Figure
          name={then.wins ? "wins of 100 against the pool's average" : "quality"}
          value={qualityOf(then)}
          before={qualityOf(now)}
          range={then.wins ? `${hundred(then.wins.lo)} to ${hundred(then.wins.hi)}` : ""}
        />
      </dl>
      <ParetoChart tradeoff={tradeoff} now={now} then={then} models={models} />
      <div class="flex flex-col gap-2">
        <div class="flex h-4 overflow-hidden rounded-full" aria-hidden="true">
          {order.map((name) => (
            <div
              key={name}
              style={{
                width: `${100 * then.shares[name]!}%`,
                background: colourOf(models, name),
              }}
            />
          ))}
        </div>
        <Legend
          entries={order.map((name) => ({
            name: `${name} ${percent(then.shares[name]!)}`,
            colour: colourOf(models, name),
          }))}
        />
      </div>
      <div class="mt-auto flex flex-col items-start gap-3 text-sm">
        <Button
          disabled={(set.tradeoff ?? current) === chosen}
          onClick={() =>
            settings.set({ ...set, tradeoff: chosen === current ? undefined : chosen })
          }
        >
          Use {chosen} for my questions in the arena
        </Button>
        <p class="flex flex-wrap items-center gap-x-1 text-muted">
          To change it for everybody, set it{" "}
          {isAdmin(signedIn) && (
            <>
              under{" "}
              <a href="#/admin/routers" class="text-accent underline underline-offset-2">
                Admin, Routers
              </a>{" "}
              or{" "}
            </>
          )}
          in joust.yaml:{" "}
          <span class="flex items-center rounded-lg bg-sunken pl-2">
            <code class="text-ink">cost_quality_tradeoff: {chosen}</code>
            <CopyButton text={`cost_quality_tradeoff: ${chosen}`} what="setting" />
          </span>
        </p>
      </div>
    </Panel>
  );
}

function Figure({
  name,
  value,
  before,
  range = "",
}: {
  name: string;
  value: string;
  before: string;
  range?: string;
}) {
  return (
    <div>
      <dt class="text-muted">{name}</dt>
      <dd class="tabular-nums">
        <span class="text-xl font-semibold">{value}</span>
        {before !== "" && before !== value && <span class="text-muted"> now {before}</span>}
        {range !== "" && <span class="block text-muted">{range}</span>}
      </dd>
    </div>
  );
}

function effect(now: TradeoffPoint, then: TradeoffPoint): string {
  const qualityChange = qualityEffect(now, then);
  if (now.cost === null || then.cost === null || now.cost === 0) return `${qualityChange}.`;
  const change = then.cost / now.cost - 1;
  if (Math.abs(change) < 0.0005) return `Same cost, ${qualityChange}.`;
  return `${percent(Math.abs(change))} ${change < 0 ? "cheaper" : "more expensive"}, ${qualityChange}.`;
}

function qualityOf({ wins, quality }: TradeoffPoint): string {
  return wins ? hundred(wins.mean) : signed(quality.mean);
}

function qualityEffect(now: TradeoffPoint, then: TradeoffPoint): string {
  if (now.wins && then.wins) {
    const more = Number(hundred(then.wins.mean)) - Number(hundred(now.wins.mean));
    if (more === 0) return "same quality";
    return `${plural(Math.abs(more), more > 0 ? "more win" : "fewer win", more > 0 ? "more wins" : "fewer wins")} of 100`;
  }
  const quality = then.quality.mean - now.quality.mean;
  return Math.abs(quality) < 0.0005 ? "same quality" : `${signed(quality)} quality`;
}

/** The effect of a setting; of the nearest one, if the gateway did not evaluate it. */
function nearest(points: readonly TradeoffPoint[], setting: number): TradeoffPoint {
  const distance = ({ tradeoff }: TradeoffPoint) => Math.abs(tradeoff - setting);
  return points.reduce((a, b) => (distance(b) < distance(a) ? b : a));
}
