/**
 * Builds the page into web/dist. `npm ci` runs it as its step "prepare". An installation
 * without development dependencies cannot build the page, but must not fail. This file is
 * JavaScript, because `npm ci` may run on an old version of Node.
 */
import { fileURLToPath } from "node:url";

// The build for production, whatever the environment of the caller (a test, for example) says.
process.env.NODE_ENV = "production";
const folder = fileURLToPath(new URL("./", import.meta.url));
const isStep = process.env.npm_lifecycle_event === "prepare";
const vite = await import("vite").catch((error) => {
  if (isStep && error.code === "ERR_MODULE_NOT_FOUND") return undefined;
  throw error;
});
if (vite) await vite.build({ root: folder, logLevel: isStep ? "warn" : "info" });
else {
  console.warn(
    'joust: the page is not built, because the development dependencies are missing; run "npm ci" to build it',
  );
}
