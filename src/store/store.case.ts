import { describe } from "vitest";
import { administrationConforms } from "./cases/administration.case.ts";
import { eventsConform } from "./cases/events.case.ts";
import { leasesConform } from "./cases/leases.case.ts";
import { readingConforms } from "./cases/reading.case.ts";
import { searchConforms } from "./cases/search.case.ts";
import { type Fresh, storesOf } from "./cases/stores.fixture.ts";
import { upkeepConforms } from "./cases/upkeep.case.ts";
import { votersConform } from "./cases/voters.case.ts";
import { votesConform } from "./cases/votes.case.ts";

/** A long timeout, because a disk may be slow. */
const SLOW_DISK = { timeout: 60_000 };

/** The conformance suite that every store must pass. */
export function conforms(name: string, fresh: Fresh): void {
  const stores = storesOf(fresh);
  describe(`${name}: the log`, SLOW_DISK, () => eventsConform(stores));
  describe(`${name}: votes`, SLOW_DISK, () => votesConform(stores));
  describe(`${name}: voters`, SLOW_DISK, () => votersConform(stores));
  describe(`${name}: decisions`, SLOW_DISK, () => readingConforms(stores));
  describe(`${name}: search`, SLOW_DISK, () => searchConforms(stores));
  describe(`${name}: snapshots and leases`, SLOW_DISK, () => leasesConform(stores));
  describe(`${name}: administration`, SLOW_DISK, () => administrationConforms(stores));
  describe(`${name}: upkeep`, SLOW_DISK, () => upkeepConforms(stores));
}
