import { createHash } from "node:crypto";

export function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

/** JSON with the keys of every object sorted, so that equal values have equal texts. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, own: unknown) => {
    if (typeof own !== "object" || own === null || Array.isArray(own)) return own;
    return Object.fromEntries(Object.entries(own).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
