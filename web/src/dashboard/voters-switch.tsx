import type { Voters } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { useAction } from "../parts/form.tsx";
import { Select } from "../parts/select.tsx";
import { plural } from "../text/format.ts";
import type { Live } from "./live.ts";

const SPEEDS = [
  { value: "60", text: "1 vote per second" },
  { value: "600", text: "10 votes per second" },
  { value: "3600", text: "60 votes per second" },
] as const;

type Speed = (typeof SPEEDS)[number]["value"];

/** Switches the sandbox's simulated voters on and off. They ask questions and vote through the public API. */
export function VotersSwitch({ voters }: { voters: Live<Voters> }) {
  const { run, problem } = useAction();
  const state = voters.data;
  if (!state) return null;
  const set = (change: Partial<Pick<Voters, "on" | "votes_per_minute">>) =>
    run(() => joust.setVoters(change).then(voters.refresh));
  const speed =
    SPEEDS.findLast(({ value }) => state.votes_per_minute >= Number(value)) ?? SPEEDS[0];
  return (
    <div class="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-xl border border-line bg-surface px-3 py-1">
      <button
        type="button"
        role="switch"
        aria-checked={state.on}
        onClick={() => set({ on: !state.on })}
        class="flex min-h-10 items-center gap-2.5 text-sm"
      >
        <span
          aria-hidden="true"
          class={`flex h-6 w-11 items-center rounded-full p-0.5 transition-colors ${state.on ? "bg-accent" : "bg-strong"}`}
        >
          <span
            class={`size-5 rounded-full bg-surface transition-transform ${state.on ? "translate-x-5" : ""}`}
          />
        </span>
        Simulated voters
      </button>
      <Select<Speed>
        label="Voting speed"
        options={SPEEDS}
        value={speed.value}
        onChange={(value) => set({ votes_per_minute: Number(value) })}
      />
      {state.cast > 0 && (
        <span class="text-sm text-muted tabular-nums">
          {plural(state.cast, "vote")} cast by simulated voters
        </span>
      )}
      {problem !== undefined && <span class="text-sm text-bad">{problem}</span>}
    </div>
  );
}
