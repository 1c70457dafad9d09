/** The thread that makes backups, because copying a SQLite file blocks its thread. Started by back-up.ts. */
import { serve } from "../../core/threads/serve.ts";
import type { Manifest } from "./manifest.ts";
import { backUpPostgres } from "./postgres-backup.ts";
import { backUpSqlite } from "./sqlite-backup.ts";

const methods = {
  backUp: (from: { file: string } | { url: string }, folder: string): Promise<Manifest> =>
    "file" in from ? backUpSqlite(from.file, folder) : backUpPostgres(from.url, folder),
};
export type BackupMethods = typeof methods;

serve(() => methods);
