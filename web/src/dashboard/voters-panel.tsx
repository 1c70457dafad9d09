import { useState } from "preact/hooks";
import { postJson } from "../api/client.ts";
import type { Stats, Truth, Voters } from "../api/stats.ts";
import { count, percent } from "../format.ts";
import { Panel } from "../parts/panel.tsx";
import { Segmented } from "../parts/segmented.tsx";
import type { Live } from "./live.ts";
import { agreement, compared } from "./truth.ts";
import { TruthChart } from "./truth-chart.tsx";

const SPEEDS = [
  { value: "60", text: "1 a second" },
  { value: "600", text: "10 a second" },
  { value: "3600", text: "An hour in a minute" },
] as const;

type Speed = (typeof SPEEDS)[number]["value"];

/** In the sandbox the truth is known, and people can be simulated: so one can watch it being found. */
export function VotersPanel({
  voters,
  truth,
  stats,
}: {
  voters: Live<Voters>;
  truth: Truth | undefined;
  stats: Stats;
}) {
  const [problem, setProblem] = useState<string>();
  const state = voters.data;
  const set = (change: Partial<Voters>) => {
    setProblem(undefined);
    postJson<Voters>("/v1/sandbox/voters", change).then(
      () => voters.refresh(),
      (error: Error) => setProblem(error.message),
    );
  };
  if (!state) return null;
  const speed =
    SPEEDS.findLast(({ value }) => state.votes_per_minute >= Number(value)) ?? SPEEDS[0];
  const pairs = truth ? compared(truth, stats) : [];
  const found = agreement(pairs);
  return (
    <Panel
      title="Simulated voters"
      about="They ask the sandbox's own questions, know the right answers, and vote as people would, by the same interface. What is true is known here, so what Joust believes can be checked."
      actions={
        <div class="flex flex-wrap items-center gap-3">
          <Segmented<Speed>
            label="Votes"
            options={SPEEDS}
            value={speed.value}
            onChange={(value) => set({ votes_per_minute: Number(value) })}
          />
          <button
            type="button"
            role="switch"
            aria-checked={state.on}
            onClick={() => set({ on: !state.on })}
            class="flex min-h-10 items-center gap-2.5 rounded-lg px-1 text-sm"
          >
            <span
              aria-hidden="true"
              class={`flex h-6 w-11 items-center rounded-full p-0.5 transition-colors ${state.on ? "bg-accent" : "bg-strong"}`}
            >
              <span
                class={`size-5 rounded-full bg-surface transition-transform ${state.on ? "translate-x-5" : ""}`}
              />
            </span>
            {state.on ? "Voting" : "Off"}
          </button>
        </div>
      }
    >
      {problem !== undefined && <p class="text-sm text-bad">{problem}</p>}
      <div class="grid items-center gap-6 lg:grid-cols-[18rem_1fr]">
        <dl class="flex flex-col gap-4">
          <Figure name="votes cast since the start" value={count(state.cast)} />
          {found && (
            <>
              <Figure
                name={`of ${found.categories} categories have their best model on top, or one as good within 0.02`}
                value={`${found.best}`}
              />
              <Figure
                name="correlation of estimated and true quality"
                value={found.correlation.toFixed(2)}
              />
              <Figure
                name="of true values lie within the 95% intervals"
                value={found.covered === null ? "\u2013" : percent(found.covered)}
              />
            </>
          )}
        </dl>
        {pairs.length > 0 && <TruthChart pairs={pairs} />}
      </div>
    </Panel>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div class="flex flex-col-reverse">
      <dt class="text-sm text-muted">{name}</dt>
      <dd class="text-2xl font-semibold tracking-tight tabular-nums">{value}</dd>
    </div>
  );
}
