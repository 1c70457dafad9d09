import type { FileRef } from "./job.ts";

/** Every FileRef in a spec, wherever it stands. */
export function filesIn(value: unknown): FileRef[] {
  if (typeof value !== "object" || value === null) return [];
  if ("sha256" in value && "name" in value) return [value as FileRef];
  return Object.values(value).flatMap(filesIn);
}
