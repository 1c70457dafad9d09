import type { AuditRecord } from "../../store/administration.ts";
import type { Store } from "../../store/store.ts";

/**
 * Adds the names of voters to records that refer to an event of the log. The audit log itself has no
 * name of a voter, so that a voter can be forgotten.
 */
export async function withVoters(
  store: Pick<Store, "controls">,
  records: readonly AuditRecord[],
): Promise<AuditRecord[]> {
  const routers = new Set(records.filter(isWeighing).map(({ target }) => target));
  const names = new Map<string, string>();
  for (const router of routers) {
    for (const event of await store.controls(router)) {
      if (event.kind === "voter_weighed") names.set(`${router} ${event.position}`, event.voter);
    }
  }
  return records.map((record) => {
    if (!isWeighing(record)) return record;
    const { position, weight } = record.after as { position: number; weight: number };
    const voter = names.get(`${record.target} ${position}`);
    return { ...record, after: { ...(voter !== undefined && { voter }), weight, position } };
  });
}

function isWeighing({ action }: AuditRecord): boolean {
  return action === WEIGHING;
}

/** Action of a record about the weight of a voter. Its member `after` has the position of the event in the log. */
export const WEIGHING = "router.weigh";
