import { createHash } from "node:crypto";
import {
  createReadStream,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { InputError } from "../../core/input/input-error.ts";
import { daysIn, fileOf, folderOf } from "../sqlite/days.ts";

/** Name of the main file of a backup, and of a data folder. */
export const MAIN = "joust.db";
const MANIFEST = "backup.json";

/** Content of backup.json. It is written last: a backup without it is incomplete. */
export type Manifest = z.infer<typeof MANIFEST_SCHEMA>;

const MANIFEST_SCHEMA = z.object({
  schema: z.literal(1),
  /** Time at which the backup began. */
  at: z.string(),
  /** Position of the last vote or control. */
  position: z.number(),
  files: z.array(z.object({ name: z.string(), bytes: z.number(), sha256: z.string() })),
});

/** Called with the name of each file before it is read or written, to show progress. */
export type OnFile = (file: string) => void;

/** Writes the manifest of a backup whose files are complete. */
export async function writeManifest(
  folder: string,
  at: string,
  position: number,
): Promise<Manifest> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
  const files: Manifest["files"] = [];
  for (const name of names) {
    const file = join(folder, name);
    files.push({ name, bytes: statSync(file).size, sha256: await hashOf(file) });
  }
  const manifest: Manifest = { schema: 1, at, position, files };
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, undefined, 2)}\n`, {
    flush: true,
    mode: 0o600,
  });
  return manifest;
}

/** Reads the manifest of a backup and checks all files. Throws InputError if the backup is incomplete or damaged. */
export async function checkBackup(folder: string, onFile: OnFile = () => {}): Promise<Manifest> {
  const file = join(folder, MANIFEST);
  if (!existsSync(file)) {
    throw new InputError(
      { file: folder },
      "is not a complete backup",
      'name a folder that "joust backup" has written',
    );
  }
  const manifest = read(file);
  const listed = new Set(manifest.files.map(({ name }) => name));
  if (!listed.has(MAIN)) throw new InputError({ file }, "is damaged", "use another backup");
  const days = folderOf(join(folder, MAIN));
  const dayFiles = daysIn(days).map((day) => fileOf(days, day));
  // SQLite would apply the changes in a -wal or -journal file to the file beside it.
  const changes = [join(folder, MAIN), ...dayFiles].flatMap((copy) =>
    ["-wal", "-journal"].map((suffix) => `${copy}${suffix}`).filter(mayHaveChanges),
  );
  for (const copy of [...dayFiles, ...changes]) {
    if (listed.has(relative(folder, copy))) continue;
    throw new InputError(
      { file: copy },
      "does not belong to the backup",
      "move it away, or use another backup",
    );
  }
  for (const { name, bytes, sha256 } of manifest.files) {
    const copy = join(folder, name);
    onFile(copy);
    const found = lstatSync(copy, { throwIfNoEntry: false });
    const isWhole = found?.isFile() && found.size === bytes && (await hashOf(copy)) === sha256;
    if (!isWhole) {
      throw new InputError({ file: copy }, "is missing or damaged", "use another backup");
    }
  }
  return manifest;
}

function read(file: string): Manifest {
  try {
    return MANIFEST_SCHEMA.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    throw new InputError({ file }, "is damaged", "use another backup");
  }
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

/** Whether there is anything but an empty file, which a restore that has read the backup leaves behind. */
function mayHaveChanges(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && !(found.isFile() && found.size === 0);
}
