import type { Voter } from "../../../src/client.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { ago, clockTime, count, percent } from "../text/format.ts";

/** Changes that the buttons of a row make. */
export interface VoterActions {
  readonly weigh: (weight: number) => void;
  /** Opens the form for another weight. */
  readonly edit: () => void;
  readonly forget: () => void;
}

/** A voter with the number of votes, the learner's estimate and the weight. There are no buttons without `actions`. */
export function VoterRow({
  value,
  isBusy,
  actions,
}: {
  value: Voter;
  isBusy: boolean;
  actions: VoterActions | undefined;
}) {
  const { votes, first_vote_at: first, last_vote_at: last, weight } = value;
  return (
    <tr class="border-t border-line">
      <th
        scope="row"
        class={`py-2 pr-3 text-left font-medium ${nameOf(value).length > 28 ? "min-w-40 break-all" : "whitespace-nowrap"}`}
      >
        {nameOf(value)}
      </th>
      <td class="pl-3 text-right whitespace-nowrap tabular-nums">
        {votes < MOST_COUNTED ? count(votes) : `${count(votes)} or more`}
      </td>
      <td class="pl-4 whitespace-nowrap text-muted">{timeOf(first, dayOf)}</td>
      <td class="py-2 pl-4 whitespace-nowrap text-muted" title={timeOf(last, clockTime)}>
        {timeOf(last, (time) => ago(time, Date.now()))}
      </td>
      <td class="pl-4 text-muted">{estimateOf(value)}</td>
      <td class={`pl-4 ${weight === 1 ? "text-muted" : "text-warn"}`}>{weightOf(value)}</td>
      <td class="text-right whitespace-nowrap">
        {actions && <Actions value={value} isBusy={isBusy} actions={actions} />}
      </td>
    </tr>
  );
}

function Actions({
  value,
  isBusy,
  actions: { weigh, edit, forget },
}: {
  value: Voter;
  isBusy: boolean;
  actions: VoterActions;
}) {
  const name = nameOf(value);
  const isExcluded = value.weight === 0;
  const verb = isExcluded ? "Include" : "Exclude";
  return (
    <>
      <Button
        variant="quiet"
        aria-label={`${verb} ${name}`}
        // The button stays enabled while a change is made, because a disabled button loses the focus.
        onClick={() => {
          if (!isBusy) weigh(isExcluded ? 1 : 0);
        }}
      >
        {verb}
      </Button>
      <Button
        id={`weigh-${value.voter}`}
        variant="quiet"
        aria-label={`Weigh ${name}`}
        onClick={edit}
      >
        Weigh
      </Button>
      {value.kind !== "unnamed" && (
        <ConfirmButton text="Forget" target={name} isBusy={isBusy} onConfirm={forget} />
      )}
    </>
  );
}

/** The name of a voter as the page shows it. */
export function nameOf({ voter }: Voter): string {
  return voter === "" ? "votes without a name" : voter;
}

function timeOf(time: string | null, format: (time: number) => string): string {
  return time === null ? "\u2013" : format(Date.parse(time));
}

function dayOf(time: number): string {
  return new Date(time).toLocaleDateString("en", { dateStyle: "medium" });
}

function estimateOf({ kind, weight, reliability, agreement, scale }: Voter): string {
  if (weight === 0) return "not used";
  if (scale) {
    const [mean, lo, hi] = [scale.mean, scale.lo, scale.hi].map((value) => value.toFixed(2));
    return `sharpness ${mean} (${lo} to ${hi})`;
  }
  if (kind === "judge" || kind === "signal") return "no estimate yet";
  if (reliability === null) return "counts fully";
  const evidence = agreement
    ? `agreed in ${percent(agreement.share)} of ${count(agreement.votes)}`
    : "no vote compared yet";
  return `${reliability.toFixed(2)} (${evidence})`;
}

function weightOf({ weight, weight_set_at: since }: Voter): string {
  const text = weight === 0 ? "excluded" : String(weight);
  return weight === 1 || since === null ? text : `${text} since ${clockTime(Date.parse(since))}`;
}

/** Votes beyond this number are not counted by the gateway. */
const MOST_COUNTED = 10_000;
