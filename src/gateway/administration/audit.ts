import { randomBytes } from "node:crypto";
import type { AuditRecord as Shown } from "../../api/configuration.ts";
import type { AuditRecord } from "../../store/administration.ts";
import type { Store } from "../../store/store.ts";
import type { Caller } from "../access/access.ts";
import type { Clock } from "../clock/clock.ts";

type Entry = Omit<AuditRecord, "id" | "at" | "actor">;

/** Writes the audit log. */
export class Audit {
  readonly #store: Pick<Store, "saveAudit">;
  readonly #clock: Clock;
  /**
   * Time in the id of the last record. No two records have the same time, so that ids keep their order.
   */
  #last = 0;

  constructor(store: Pick<Store, "saveAudit">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** A record with an id that sorts after all earlier ones of this node. */
  newRecord({ name }: Pick<Caller, "name">, entry: Entry): AuditRecord {
    const at = this.#clock.date();
    this.#last = Math.max(Math.round(at), this.#last + 1);
    const id = `${String(this.#last).padStart(15, "0")}-${randomBytes(6).toString("hex")}`;
    return { id, at, ...(name !== undefined && { actor: name }), ...entry };
  }

  /** Saves a record of a change that has been made. */
  save(caller: Pick<Caller, "name">, entry: Entry): Promise<void> {
    return this.#store.saveAudit(this.newRecord(caller, entry));
  }
}

export function shownRecord({ at, actor = undefined, ...record }: AuditRecord): Shown {
  return { ...record, at: new Date(at).toISOString(), actor: actor ?? null };
}
