import { useMemo } from "preact/hooks";
import type { LearningCurve, Stats } from "../../../src/client.ts";
import { Panel } from "../parts/panel.tsx";
import { filledSeries } from "./series.ts";
import { SpendPanel } from "./spend-panel.tsx";
import { TrafficPanel } from "./traffic-panel.tsx";
import { VotesPanel } from "./votes-panel.tsx";

/** Traffic, spend and votes of the time window in three charts. */
export function OverTime({
  stats,
  learning,
}: {
  stats: Stats;
  learning: LearningCurve | undefined;
}) {
  const points = useMemo(() => filledSeries(stats), [stats]);
  const { requests, votes } = stats.counts;
  if (requests + votes === 0) {
    return (
      <Panel title="Traffic, spend and votes">
        <p class="text-sm text-muted">There was no activity in this time window.</p>
      </Panel>
    );
  }
  return (
    <div class="grid gap-4 lg:grid-cols-3">
      <TrafficPanel stats={stats} points={points} learning={learning} />
      <SpendPanel stats={stats} points={points} />
      <VotesPanel stats={stats} points={points} />
    </div>
  );
}
