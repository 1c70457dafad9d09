import { defineConfig } from "vitest/config";

/** `fast` is what `npm run check` runs; `slow` holds whole processes, long chains and real data; `browser` the page in Chromium. */
export default defineConfig({
  test: {
    maxWorkers: "100%", // the default leaves a core idle
    projects: [
      {
        test: {
          name: "fast",
          include: ["src/**/*.test.ts", "web/src/**/*.test.ts", "test/*.test.ts"],
          exclude: ["**/*.slow.test.ts"],
          testTimeout: 60_000, // a machine at work elsewhere is no failure
        },
      },
      {
        test: {
          name: "slow",
          include: ["src/**/*.slow.test.ts", "test/e2e/*.test.ts"],
          testTimeout: 300_000,
        },
      },
      {
        test: {
          name: "browser",
          include: ["test/browser/*.test.ts"],
          globalSetup: "test/browser/page.setup.ts",
          testTimeout: 180_000,
          hookTimeout: 120_000,
          fileParallelism: false, // frames are measured
        },
      },
    ],
  },
});
