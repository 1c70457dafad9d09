import { Audit } from "../../gateway/administration/audit.ts";
import { systemClock } from "../../gateway/clock/clock.ts";
import type { AuditRecord } from "../../store/administration.ts";
import type { Store } from "../../store/store.ts";

/** Actor of changes that commands make. No API key has this name, because names of keys have no spaces. */
export const COMMAND_LINE = "command line";

/** Records in the history a change that a command has made. */
export function recordChange(
  store: Store,
  change: Pick<AuditRecord, "action" | "target" | "before" | "after">,
): Promise<void> {
  return new Audit(store, systemClock).save({ name: COMMAND_LINE }, change);
}
