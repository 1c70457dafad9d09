/** What is to be read before any number: what stands in for what, and what could not be run. */
import { PAPER_ENCODERS } from "./encoders.ts";
import type { Record } from "./record.ts";
import type { Reproduced } from "./reproduce.ts";

export function caveatsOf(
  { parts, judged }: Pick<Reproduced, "parts" | "judged">,
  { absent, encoders }: Pick<Record, "absent" | "encoders">,
): string[] {
  const standIns = [...Map.groupBy(parts, ({ standIn }) => standIn)].flatMap(([standIn, own]) => {
    const names = own.map(({ experiment }) => experiment.title.split(":")[0]!);
    const ids = own.flatMap(({ experiment }) => claimsWith(judged, experiment.title));
    return standIn === undefined ? [] : [`for ${names.join(", ")}${idsText(ids)} ${standIn}`];
  });
  const run = encoders.map(({ name }) => name).filter((name) => PAPER_ENCODERS.includes(name));
  const missing = [...Map.groupBy(absent, ({ reason }) => reason)].map(
    ([reason, own]) => `${own.map(({ name }) => name).join(", ")} (${reason})`,
  );
  const prompted = claimsWith(judged, "OpenAItext");
  return [
    ...(standIns.length > 0 ? [`In place of the paper's data: ${standIns.join("; ")}.`] : []),
    ...(missing.length > 0
      ? [
          `Of the paper's encoders ${run.length > 0 ? `${run.join(", ")} alone` : "none"} ${run.length > 1 ? "were" : "was"} run. Not run: ${missing.join("; ")}.`,
        ]
      : []),
    ...(prompted.length > 0
      ? [
          `Where the paper compares with OpenAItext${idsText(prompted)}, each encoder's own prompts or vectors stand in for it.`,
        ]
      : []),
  ];
}

/** The claims that were judged on a stand-in for this. */
function claimsWith(judged: Reproduced["judged"], standIn: string): number[] {
  return judged
    .filter(({ standIns }) => standIns?.includes(standIn))
    .map(({ claim }) => claim.id)
    .sort((a, b) => a - b);
}

function idsText(ids: readonly number[]): string {
  if (ids.length === 0) return "";
  return ` (${ids.length === 1 ? "claim" : "claims"} ${ids.join(", ")})`;
}

/** A title that says so where what it stands above is not of the paper's data. */
export function titleOf(title: string, standIn: string | undefined): string {
  return standIn === undefined ? title : `${title} (a stand-in: ${standIn})`;
}
