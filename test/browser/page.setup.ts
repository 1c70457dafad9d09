import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../e2e/joust.fixture.ts";

/** The page as its sources are now, where `joust serve` looks for it, built as `npm ci` builds it. */
export default function setup(): void {
  const env = { ...process.env, npm_lifecycle_event: "prepare" };
  execFileSync(process.execPath, [join(ROOT, "web/build.mjs")], { env, stdio: "inherit" });
}
