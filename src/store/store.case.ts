import { describe } from "vitest";
import { eventsConform } from "./cases/events.case.ts";
import { leasesConform } from "./cases/leases.case.ts";
import { readingConforms } from "./cases/reading.case.ts";
import { type Fresh, storesOf } from "./cases/stores.fixture.ts";
import { upkeepConforms } from "./cases/upkeep.case.ts";
import { votesConform } from "./cases/votes.case.ts";

/** A disk may be slow. */
const PATIENT = { timeout: 60_000 };

/** What every store must pass. */
export function conforms(name: string, fresh: Fresh): void {
  const stores = storesOf(fresh);
  describe(`${name}: events`, PATIENT, () => eventsConform(stores));
  describe(`${name}: votes`, PATIENT, () => votesConform(stores));
  describe(`${name}: reading`, PATIENT, () => readingConforms(stores));
  describe(`${name}: snapshots and leases`, PATIENT, () => leasesConform(stores));
  describe(`${name}: upkeep`, PATIENT, () => upkeepConforms(stores));
}
