import { useMemo } from "preact/hooks";
import type { Learning, Stats } from "../api/stats.ts";
import { filledSeries } from "./series.ts";
import { SpendPanel } from "./spend-panel.tsx";
import { TrafficPanel } from "./traffic-panel.tsx";
import { VotesPanel } from "./votes-panel.tsx";

export function OverTime({ stats, learning }: { stats: Stats; learning: Learning | undefined }) {
  const points = useMemo(() => filledSeries(stats), [stats]);
  return (
    <div class="grid gap-4 lg:grid-cols-3">
      <TrafficPanel stats={stats} points={points} learning={learning} />
      <SpendPanel stats={stats} points={points} />
      <VotesPanel stats={stats} points={points} />
    </div>
  );
}
