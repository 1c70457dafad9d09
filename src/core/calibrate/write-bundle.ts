import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { checksum } from "../input/checksum.ts";
import { InputError } from "../input/input-error.ts";
import { replaceFolder } from "../input/replace-folder.ts";
import { writeError } from "../input/system-error.ts";
import { BUNDLE_FILE, type Bundle, bundleText, ENCODER_FOLDER, isBundle } from "./bundle.ts";

/** A bundle without the checksums of its files, which are computed when it is written. */
export type BundleContents = Omit<Bundle, "files">;

interface WriteOptions {
  /** Replace an existing bundle. */
  readonly overwrite?: boolean | undefined;
  /** Writes the weights of the bundle's own encoder into the given folder. */
  readonly saveEncoder?: ((folder: string) => Promise<void>) | undefined;
}

/** Rejects a folder that must not be overwritten, before hours of work. */
export function checkTarget(folder: string, overwrite = false): void {
  if (!existsSync(folder)) return;
  if (!isBundle(folder)) {
    throw new InputError(
      { file: folder },
      "exists and is not a bundle",
      "give a new folder: the contents of this one would be lost",
    );
  }
  if (overwrite) return;
  throw new InputError(
    { file: folder },
    "is a bundle already",
    "add --overwrite to replace it, or give another folder",
  );
}

/**
 * Writes the bundle into a temporary folder, which then replaces `folder`. An old
 * bundle stays until the new one is complete.
 */
export async function writeBundle(
  folder: string,
  contents: BundleContents,
  { overwrite, saveEncoder }: WriteOptions,
): Promise<void> {
  checkTarget(folder, overwrite);
  const path = resolve(folder);
  const draft = `${path}.${process.pid}.tmp`;
  try {
    await rm(draft, { recursive: true, force: true });
    await mkdir(draft, { recursive: true });
    await saveEncoder?.(join(draft, ENCODER_FOLDER));
    const text = bundleText({ ...contents, files: await fileChecksums(draft) });
    await writeFile(join(draft, BUNDLE_FILE), text);
    await replaceFolder(path, draft);
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => {});
    throw writeError(folder, error);
  }
}

/** Returns the checksum of each file in the folder by its relative path. */
async function fileChecksums(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((e) => join(e.parentPath, e.name));
  const sums: Record<string, string> = {};
  for (const path of paths.sort()) {
    sums[relative(folder, path).replaceAll(sep, "/")] = await checksum([path]);
  }
  return sums;
}
