import { existsSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "../../input/project.ts";
import { StaticEncoder } from "./static-encoder.ts";
import { readStaticFile, STATIC_FILE } from "./static-file.ts";

/** The one that comes with the program. */
export const BUNDLED_STATIC = join(PACKAGE_ROOT, "models/static");

/** Whether the folder is that of a static encoder. */
export function isStaticFolder(folder: string): boolean {
  return existsSync(join(folder, STATIC_FILE));
}

export interface OpenStatic {
  readonly encoder: StaticEncoder;
  /** The same for the same vectors: the file's checksum. */
  readonly identity: string;
}

/** The encoder of a folder that `joust distill` or `joust fit` has written, or the bundled one. */
export async function openStatic(folder = BUNDLED_STATIC): Promise<OpenStatic> {
  const { table, sha256 } = await readStaticFile(join(folder, STATIC_FILE));
  return { encoder: new StaticEncoder(table), identity: sha256 };
}
