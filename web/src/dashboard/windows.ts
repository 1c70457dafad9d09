import type { Stats } from "../../../src/client.ts";

export const WINDOWS = [
  { value: "1", text: "Last hour" },
  { value: "24", text: "Last day" },
  { value: "168", text: "Last week" },
  { value: "720", text: "Last month" },
  { value: "8760", text: "Last year" },
] as const;

export type WindowHours = (typeof WINDOWS)[number]["value"];

const DEFAULT: WindowHours = "24";
const HOUR_MS = 3_600_000;

/**
 * The time windows that differ for this data, and the one to show: the picked one, else the last day or, if that is
 * empty, the shortest window with requests. `year` has the numbers of the longest window; undefined while they are loading.
 */
export function windowsFor(
  year: Pick<Stats, "series"> | undefined,
  now: number,
  picked?: WindowHours,
) {
  const busy = (year?.series ?? []).filter(({ requests, votes }) => requests + votes > 0);
  const ageOf = (at: string) => (now - Date.parse(at)) / HOUR_MS;
  const oldest = busy[0] ? ageOf(busy[0].at) : 0;
  // A point of the series stands for a step that begins at its time.
  const newest = busy.length > 0 ? ageOf(busy.at(-1)!.at) - STEP_HOURS : 0;
  const covering = WINDOWS.findIndex(({ value }) => Number(value) >= oldest);
  const longest = covering < 0 ? WINDOWS.length - 1 : covering;
  // A window that was picked for another router stays on offer.
  const last = Math.max(
    1,
    longest,
    WINDOWS.findIndex(({ value }) => value === picked),
  );
  const start = WINDOWS.find(({ value }) => Number(value) >= Math.max(newest, Number(DEFAULT)));
  return { windows: WINDOWS.slice(0, last + 1), hours: picked ?? start?.value ?? DEFAULT };
}

/** A year has about a hundred steps. */
const STEP_HOURS = 8760 / 100;
