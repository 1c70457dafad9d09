import { join } from "node:path";
import { defineConfig } from "vitest/config";

/**
 * Time limits that only a hang exceeds: tests wait for events, and a busy machine may take long.
 * `expect.poll` gives up before its test does, so that the failure names what was waited for.
 */
const limits = (seconds: number) => ({
  testTimeout: 1000 * seconds,
  hookTimeout: 1000 * seconds,
  expect: { poll: { timeout: 800 * seconds, interval: 50 } },
});

/** `fast` is what `npm run check` runs; `slow` holds whole processes, long chains and real data; `browser` the page in Chromium. */
export default defineConfig({
  resolve: { alias: [{ find: /^joust$/, replacement: join(import.meta.dirname, "src/index.ts") }] },
  test: {
    maxWorkers: "100%", // the default leaves a core idle
    execArgv: ["--wasm-wrapper-tiering-budget=2000000000"], // bin/joust.js says why
    // Worker threads keep the JavaScript that Node makes of their TypeScript.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compiled") },
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: ["src/**/*.test.ts", "web/src/**/*.test.ts", "test/{,simulation/}*.test.ts"],
          exclude: ["**/*.slow.test.ts"],
          ...limits(120),
        },
      },
      {
        extends: true,
        test: {
          name: "slow",
          include: ["{src,test}/**/*.slow.test.ts", "test/e2e/*.test.ts"],
          ...limits(600),
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: ["test/browser/*.test.ts"],
          globalSetup: "test/browser/page.setup.ts",
          fileParallelism: false, // frames are measured
          ...limits(240),
        },
      },
    ],
  },
});
