import { join } from "node:path";
import { Backup, System } from "../../api/system.ts";
import type { Manifest } from "../../store/backup/manifest.ts";
import type { GroupCommit } from "../../store/group-commit.ts";
import type { Store } from "../../store/store.ts";
import type { Administration } from "../administration/administration.ts";
import type { Audit } from "../administration/audit.ts";
import { BEACON_MS } from "../administration/node-beacon.ts";
import type { Clock } from "../clock/clock.ts";
import { HttpError } from "../wire/http-error.ts";
import { type App, contract } from "./app.ts";

export interface SystemParts {
  readonly store: Store;
  readonly log: Pick<GroupCommit, "stats">;
  readonly administration: Pick<Administration, "servedRevision">;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly system: SystemFacts;
}

/** Facts about this process. */
interface SystemFacts {
  readonly version: string;
  /** Name of this node as the holder of a lease. */
  readonly node: string;
  /** SQLite file; undefined for PostgreSQL. */
  readonly file: string | undefined;
  readonly dataDir: string;
  /** Writes a backup into a new folder. */
  backUp(folder: string): Promise<Manifest>;
}

/** Adds the endpoints about nodes, leases and the store. */
export function addSystemRoutes(app: App, parts: SystemParts): void {
  const { store, log, administration, audit, clock, system } = parts;
  app.get(
    "/v1/admin/system",
    contract({
      summary: "Shows version, nodes, leases and the state of the store.",
      scope: "admin",
      response: System,
    }),
    async () => {
      const [nodes, leases] = await Promise.all([store.nodes(), store.leases()]);
      const newest = Math.max(clock.date(), ...nodes.map(({ seen }) => seen));
      const { waiting, dropped } = log.stats;
      return {
        object: "system" as const,
        version: system.version,
        node: system.node,
        revision: administration.servedRevision,
        nodes: nodes.map(({ startedAt, seen, ...node }) => ({
          ...node,
          revision: node.id === system.node ? administration.servedRevision : node.revision,
          started_at: iso(startedAt),
          seen_at: iso(seen),
          is_alive: newest - seen < 3 * BEACON_MS,
        })),
        leases: leases.map(({ until, ...lease }) => ({
          ...lease,
          until: iso(until),
          is_valid: until > newest,
        })),
        store: {
          kind: system.file === undefined ? ("postgresql" as const) : ("sqlite" as const),
          file: system.file,
          is_up: !log.stats.down,
          waiting,
          dropped,
        },
      };
    },
  );
  let isBackingUp = false;
  app.post(
    "/v1/admin/backup",
    contract({
      summary: "Writes a backup of the store into the data folder of this node.",
      scope: "admin",
      response: Backup,
      errors: [409, 413],
    }),
    async ({ caller }) => {
      if (isBackingUp) {
        throw new HttpError(409, "a backup is being made", {
          hint: "wait until it is complete",
          code: "backup_running",
        });
      }
      isBackingUp = true;
      try {
        const at = new Date(clock.date()).toISOString();
        // Other processes may make a backup in the same millisecond.
        const name = `${at.replace(/[:.]/g, "-")}-${system.node}`;
        const folder = join(system.dataDir, "backups", name);
        const { files, position } = await system.backUp(folder);
        await audit.save(caller, { action: "backup", target: folder });
        return { object: "backup" as const, folder, files: files.length, position };
      } finally {
        isBackingUp = false;
      }
    },
  );
}

function iso(time: number): string {
  return new Date(time).toISOString();
}
