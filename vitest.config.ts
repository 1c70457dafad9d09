import { defineConfig } from "vitest/config";

/** `fast` is what `npm run check` runs; `slow` holds whole processes, long chains and real data. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "fast",
          include: ["src/**/*.test.ts", "test/*.test.ts"],
          exclude: ["**/*.slow.test.ts"],
        },
      },
      {
        test: {
          name: "slow",
          include: ["src/**/*.slow.test.ts", "test/e2e/*.test.ts"],
          testTimeout: 300_000,
        },
      },
    ],
  },
});
