#!/usr/bin/env node
/**
 * The `joust` command. It runs src/ in a checkout and dist/ in the published package.
 * This file is JavaScript without recent syntax, so that an old Node can run it and
 * report that it is too old.
 */
import { existsSync, lstatSync, mkdirSync } from "node:fs";
import * as modules from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";

/** Lowest version that all dependencies support; the same as "engines" in package.json. */
const OLDEST = [22, 19];
/**
 * Settings of Node for the gateway: a small young generation, one helper thread, and no
 * compiler thread. They halve its memory. docs/performance.md has the numbers.
 */
const SERVE = ["--max-semi-space-size=8", "--v8-pool-size=1", "--no-concurrent-recompilation"];

const source = new URL("../src/cli/program.ts", import.meta.url);
const isCheckout = existsSync(source);

if (isTooOld()) {
  const hint = isCheckout
    ? 'run "npm ci", then "npm start" or "npx joust": they use the Node that comes with the checkout'
    : "install a newer Node (https://nodejs.org)";
  process.stderr.write(
    `joust: Node ${process.versions.node} is too old: Joust needs Node ${OLDEST.join(".")} or newer\nhint: ${hint}\n`,
  );
  process.exit(1);
} else {
  // Node can wait for its compiler thread for ever when it exits (nodejs/node#54918).
  setFlagsFromString("--no-concurrent-sparkplug");
  // Threads that load TypeScript share WebAssembly code, and Node can crash when one of them
  // frees it (nodejs/node#64500). This makes the threads share none.
  if (isCheckout) setFlagsFromString("--wasm-wrapper-tiering-budget=2000000000");
  if (process.argv[2] === "serve") applySettings(SERVE);
  useCompileCache();
  import(isCheckout ? source.href : new URL("../dist/cli/program.js", import.meta.url).href);
}

function isTooOld() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) return true;
  return isCheckout && !process.features.typescript;
}

/**
 * Starts this process again, under the same process id, with the settings that were not
 * given on the command line or in NODE_OPTIONS. Windows has no way to do that, and Joust
 * runs without them there.
 */
function applySettings(settings) {
  const given = [...process.execArgv, ...(process.env.NODE_OPTIONS || "").split(" ")];
  const missing = settings.filter((setting) => {
    const name = setting.split("=")[0];
    return !given.some((option) => option.split("=")[0].replaceAll("_", "-") === name);
  });
  if (missing.length === 0 || process.platform === "win32" || !process.execve) return;
  process.execve(
    process.execPath,
    [process.execPath, ...missing, ...process.execArgv, ...process.argv.slice(1)],
    process.env,
  );
}

/**
 * Makes Node keep compiled code, for this thread and for worker threads, which take the
 * folder from the environment: the next start takes half the time and less memory. Code
 * is loaded from this folder, so nobody else may be able to write to it. The default
 * folder of Node is in a temporary directory, which anybody could have created.
 */
function useCompileCache() {
  if (modules.getCompileCacheDir()) return;
  const { XDG_CACHE_HOME, LOCALAPPDATA } = process.env;
  const cache = XDG_CACHE_HOME || LOCALAPPDATA || join(homedir(), ".cache");
  const folder = join(cache, "joust", "compiled");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isPrivate(lstatSync(folder))) return;
  } catch {
    return; // A read-only file system, for example: everything works without the cache.
  }
  if (modules.enableCompileCache(folder).directory) process.env.NODE_COMPILE_CACHE = folder;
}

function isPrivate(stats) {
  if (!stats.isDirectory()) return false;
  if (process.platform === "win32") return true;
  return stats.uid === process.getuid() && (stats.mode & 0o077) === 0;
}
