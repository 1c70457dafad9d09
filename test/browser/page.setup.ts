import { build } from "vite";
import { ROOT } from "../e2e/joust.fixture.ts";

/** The page as its sources are now, where `joust serve` looks for it. */
export default async function setup(): Promise<void> {
  await build({ root: `${ROOT}/web`, logLevel: "warn" });
}
