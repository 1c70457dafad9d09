import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** Returns the SHA-256 of the concatenated files, in hexadecimal. */
export async function checksum(paths: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of paths) {
    for await (const piece of createReadStream(path)) hash.update(piece as Uint8Array);
  }
  return hash.digest("hex");
}
