import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../e2e/joust.fixture.ts";

/** Builds the page from its current sources, in the same way as `npm ci`. */
export default function setup(): void {
  const env = { ...process.env, npm_lifecycle_event: "prepare" };
  execFileSync(process.execPath, [join(ROOT, "web/build.mjs")], { env, stdio: "inherit" });
}
