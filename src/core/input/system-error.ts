import { InputError } from "./input-error.ts";

/** ENOENT and its like; empty where an error is not the system's. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** What the system says about writing in a folder, as an InputError where the user can mend it. */
export function writeError(
  folder: string,
  error: unknown,
  hint = "name a folder that you may write to, with room on its disk",
): unknown {
  const code = codeOf(error);
  if (!UNWRITABLE.has(code)) return error;
  return new InputError({ file: folder }, `cannot be written (${code})`, hint);
}

const UNWRITABLE = new Set(["EEXIST", "ENOTDIR", "EISDIR", "EACCES", "EPERM", "EROFS", "ENOSPC"]);
