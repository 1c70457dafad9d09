import { InputError } from "./input-error.ts";

/** Returns the code of a system error, such as ENOENT, or an empty string for any other error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Converts a system error about writing to a folder into an InputError, if the user can correct it. */
export function writeError(
  folder: string,
  error: unknown,
  hint = "give a folder that is writable and has space on its disk",
): unknown {
  const code = codeOf(error);
  if (!UNWRITABLE.has(code)) return error;
  return new InputError({ file: folder }, `cannot be written (${code})`, hint);
}

const UNWRITABLE = new Set(["EEXIST", "ENOTDIR", "EISDIR", "EACCES", "EPERM", "EROFS", "ENOSPC"]);
