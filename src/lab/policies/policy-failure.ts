/** What to say of a policy that throws: one of the user's own is theirs to mend, the others are ours. */
import { basename } from "node:path";

/** `TypeError: no such model (at mine.ts:2:34)`: the innermost frame that is not this program's. */
export function describeThrown(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const frame = [...(error.stack ?? "").matchAll(FRAME)].find(([, url]) => !url!.startsWith(SRC));
  const place = frame ? ` (at ${[basename(frame[1]!), ...frame.slice(2)].join("")})` : "";
  return `${error.name}: ${error.message}${place}`;
}

const SRC = new URL("../..", import.meta.url).href;
const FRAME = /(file:\/\/[^\s()]+?)(:\d+)((?::\d+)?)(?=[\s)]|$)/g;
