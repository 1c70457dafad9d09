import { existsSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../../input/project.ts";
import { StaticEncoder } from "./static-encoder.ts";
import { readStaticFile, STATIC_FILE } from "./static-file.ts";

/** Folder of the static encoder that comes with the package. */
export const BUNDLED_STATIC = join(PACKAGE_ROOT, "models/static");

/** Whether the folder holds a static encoder. */
export function isStaticFolder(folder: string): boolean {
  return existsSync(join(folder, STATIC_FILE));
}

export interface OpenStatic {
  readonly encoder: StaticEncoder;
  /** Checksum of the file. */
  readonly identity: string;
}

/** Opens a folder that `joust distill` or `joust fit` has written; by default the package's own encoder. */
export async function openStatic(folder = BUNDLED_STATIC): Promise<OpenStatic> {
  const { table, sha256 } = await readStaticFile(join(folder, STATIC_FILE));
  return { encoder: new StaticEncoder(table), identity: sha256 };
}
