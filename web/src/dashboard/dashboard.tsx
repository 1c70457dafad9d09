import { useEffect, useState } from "preact/hooks";
import type { PromptMap, Stats, Tradeoff } from "../../../src/client.ts";
import { isAdmin, joust, lacksMetrics, session } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { Select } from "../parts/select.tsx";
import { useValue } from "../state/observable.ts";
import { AssessmentCards } from "./assessment-cards.tsx";
import { DecisionsPanel } from "./decisions-panel.tsx";
import { FirstVotes } from "./first-votes.tsx";
import { Glossary } from "./glossary.tsx";
import { HeadlinePanel } from "./headline-panel.tsx";
import { HealthPanel } from "./health-panel.tsx";
import { HeatMap } from "./heat-map.tsx";
import { Leaderboard } from "./leaderboard.tsx";
import { LearningPanel } from "./learning-panel.tsx";
import { useLive } from "./live.ts";
import { MapPanel } from "./map-panel.tsx";
import { OverTime } from "./over-time.tsx";
import { TradeoffPanel } from "./tradeoff-panel.tsx";
import { TruthPanel } from "./truth-panel.tsx";
import { VotersSwitch } from "./voters-switch.tsx";
import { type WindowHours, windowsFor } from "./windows.ts";
import { WithoutNumbers } from "./without-numbers.tsx";

/**
 * The page that shows whether the router learns and saves money, and how each model performs. A key without the scope
 * `metrics` sees its own decisions and what the router would do, but no numbers by model.
 */
export function Dashboard() {
  const served = useValue(usePage().serving);
  const [chosen, setChosen] = useState<string>();
  const [picked, setPicked] = useState<WindowHours>();
  const routers = served?.routers ?? [];
  const router = routers.find((name) => name === chosen) ?? routers[0];
  const current = useValue(session);
  const hasNumbers = !lacksMetrics(current);
  // The longest window is read once, after the first numbers are there.
  const [isShown, setIsShown] = useState(false);
  const year = useLive(
    isShown && hasNumbers ? router : undefined,
    (options) => joust.stats({ router, hours: 8760 }, options),
    3_600_000,
  );
  const { windows, hours } = windowsFor(year.data, Date.now(), picked);
  const window = { router, hours: Number(hours) };
  const key = router && hasNumbers ? `${router} ${hours}` : undefined;
  const stats = useLive(key, (options) => joust.stats(window, options), 2000);
  const learning = useLive(key, (options) => joust.learning(window, options), 5000);
  const tradeoff = useLive(router, (options) => joust.tradeoff({ router }, options), 10_000);
  const map = useLive(router, (options) => joust.map({ router }, options), 10_000);
  const sandboxKey = served?.isSandbox ? "sandbox" : undefined;
  // Only an administrator can switch simulated voters on.
  const votersKey = isAdmin(current) ? sandboxKey : undefined;
  const voters = useLive(votersKey, (options) => joust.voters(options), 1000);
  const truth = useLive(sandboxKey, (options) => joust.truth(options), 3_600_000);
  useEffect(() => {
    if (stats.data) setIsShown(true);
  }, [stats.data !== undefined]);
  const pool = router === undefined ? undefined : served?.pools.get(router);
  const models = stats.data?.models.map(({ model }) => model) ?? pool ?? [];
  return (
    <div class="mx-auto flex w-full max-w-[90rem] flex-col gap-4 px-3 py-6 sm:px-6">
      <div class="flex flex-wrap items-center gap-3">
        <h1 class="mr-auto text-2xl font-semibold tracking-tight">Dashboard</h1>
        {routers.length > 1 && (
          <Select
            label="Router"
            options={routers.map((name) => ({ value: name, text: name }))}
            value={router ?? ""}
            onChange={setChosen}
          />
        )}
        <VotersSwitch voters={voters} />
        {hasNumbers && (
          <Select label="Time window" options={windows} value={hours} onChange={setPicked} />
        )}
      </div>
      {!hasNumbers && router && (
        <>
          <WithoutNumbers />
          <Prompts tradeoff={tradeoff.data} map={map.data} models={models} />
          <DecisionsPanel router={router} />
          <Glossary />
        </>
      )}
      {hasNumbers && <Problem text={stats.problem} />}
      {hasNumbers && !stats.data && stats.problem === undefined && <Skeleton />}
      {stats.data && router && (
        <>
          <Warnings warnings={stats.data.warnings} />
          {!isNew(stats.data) && (
            <HeadlinePanel stats={stats.data} tradeoff={tradeoff.data} hours={hours} />
          )}
          {votersKey && <FirstVotes voters={voters} />}
          {isNew(stats.data) ? (
            <FirstSteps hasSimulatedVoters={votersKey !== undefined} />
          ) : (
            <AssessmentCards stats={stats.data} learning={learning.data} tradeoff={tradeoff.data} />
          )}
          {!(isNew(stats.data) && knowsNothing(stats.data)) && (
            <div class="grid gap-4 xl:grid-cols-[2fr_3fr]">
              <Leaderboard stats={stats.data} />
              <HeatMap stats={stats.data} />
            </div>
          )}
          {!isNew(stats.data) && (
            <>
              {truth.data && <TruthPanel truth={truth.data} stats={stats.data} />}
              <LearningPanel learning={learning.data} />
              <OverTime stats={stats.data} learning={learning.data} />
              <Prompts tradeoff={tradeoff.data} map={map.data} models={models} />
              <DecisionsPanel router={router} />
            </>
          )}
          <HealthPanel stats={stats.data} listed={served?.models ?? []} />
          <Glossary />
        </>
      )}
    </div>
  );
}

/** The effect of another trade-off on the latest prompts, and a map of them. */
function Prompts({
  tradeoff,
  map,
  models,
}: {
  tradeoff: Tradeoff | undefined;
  map: PromptMap | undefined;
  models: readonly string[];
}) {
  return (
    <div class="grid gap-4 xl:grid-cols-2">
      {tradeoff && <TradeoffPanel tradeoff={tradeoff} models={models} />}
      {map && <MapPanel map={map} models={models} />}
    </div>
  );
}

/** Whether the router has never received a request. */
function isNew({ recent_queries: queries, counts }: Stats): boolean {
  return queries === 0 && counts.requests === 0;
}

/** Whether all models are estimated to be equal: there are neither votes nor told scores. */
function knowsNothing({ leaderboard }: Stats): boolean {
  const all = [leaderboard.overall, ...leaderboard.categories.map(({ models }) => models)].flat();
  return all.every(({ value }) => Math.abs(value) < 1e-9);
}

/** Instructions for a dashboard without data. */
function FirstSteps({ hasSimulatedVoters }: { hasSimulatedVoters: boolean }) {
  const link = "text-accent underline underline-offset-2";
  return (
    <Panel title="No requests yet">
      <p class="text-sm">
        Ask a question in the{" "}
        <a href="#/" class={link}>
          arena
        </a>{" "}
        and vote, or{" "}
        <a href="#/setup" class={link}>
          connect a client
        </a>{" "}
        to this gateway.
        {hasSimulatedVoters &&
          " Or let simulated people cast the first votes above and watch Joust learn."}
      </p>
    </Panel>
  );
}

function Warnings({ warnings }: { warnings: readonly string[] }) {
  return warnings.map((warning) => (
    <p
      key={warning}
      role="status"
      class="rounded-2xl border border-warn bg-surface px-5 py-3 text-sm"
    >
      <strong class="font-semibold text-warn">Warning.</strong> {warning}
    </p>
  ));
}

/** Placeholders with the shape of the page while the numbers are loading. */
function Skeleton() {
  return (
    <div class="flex animate-pulse flex-col gap-4" aria-hidden="true">
      <div class="grid gap-4 md:grid-cols-3">
        {[0, 1, 2].map((i) => (
          <div key={i} class="h-38 rounded-2xl border border-line bg-surface" />
        ))}
      </div>
      <div class="grid gap-4 xl:grid-cols-[2fr_3fr]">
        {[0, 1].map((i) => (
          <div key={i} class="h-130 rounded-2xl border border-line bg-surface" />
        ))}
      </div>
    </div>
  );
}
