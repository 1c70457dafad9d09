/** What is to be read before any number: what stands in for what, and what could not be run. */
import type { Record } from "./record.ts";
import type { Reproduced } from "./reproduce.ts";

export function caveatsOf(
  { parts }: Pick<Reproduced, "parts">,
  { absent }: Pick<Record, "absent">,
): string[] {
  const standIns = [...Map.groupBy(parts, ({ standIn }) => standIn)].flatMap(([standIn, own]) => {
    const names = own.map(({ experiment }) => experiment.title.split(":")[0]);
    return standIn === undefined ? [] : [`for ${names.join(", ")} ${standIn}`];
  });
  const missing = [...Map.groupBy(absent, ({ reason }) => reason)].map(
    ([reason, own]) => `${own.map(({ name }) => name).join(", ")} (${reason})`,
  );
  return [
    ...(standIns.length > 0 ? [`In place of the paper's data: ${standIns.join("; ")}.`] : []),
    ...(missing.length > 0
      ? [`Encoders of the paper that were not run: ${missing.join("; ")}.`]
      : []),
  ];
}

/** A title that says so where what it stands above is not of the paper's data. */
export function titleOf(title: string, standIn: string | undefined): string {
  return standIn === undefined ? title : `${title} (a stand-in: ${standIn})`;
}
