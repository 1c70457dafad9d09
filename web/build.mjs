/**
 * Builds the page as a step of `npm ci`, so that `npm start` can serve it. Plain
 * JavaScript and no failure where there is nothing to build with: an install
 * without the development dependencies serves the interface alone, or the page
 * that was built before.
 */
import { fileURLToPath } from "node:url";

// Whoever builds it, a test among them, builds what is served: no names of files, no development checks.
process.env.NODE_ENV = "production";
const folder = fileURLToPath(new URL("./", import.meta.url));
const isStep = process.env.npm_lifecycle_event === "prepare";
const tools = await import("vite").catch((error) => {
  if (isStep && error.code === "ERR_MODULE_NOT_FOUND") return undefined;
  throw error;
});
if (tools) await tools.build({ root: folder, logLevel: isStep ? "warn" : "info" });
else console.warn("joust: the page was not built, since vite is not installed; all else works");
