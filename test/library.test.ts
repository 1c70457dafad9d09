import { expect, it, vi } from "vitest";
import { CONTENTS } from "../src/core/calibrate/bundle.fixture.ts";
import { createPolicy, joust, poolOfBundle, Random, Router } from "../src/index.ts";

it("examples/library.ts routes and votes", async () => {
  const log = vi.spyOn(console, "log").mockReturnValue();
  await import("../examples/library.ts");
  expect(log.mock.calls).toEqual([
    [expect.stringMatching(/^ask (small and large|large and small)$/)],
  ]);
  log.mockRestore();
});

it("a router starts from the scores of a calibration bundle", () => {
  const pool = poolOfBundle({ ...CONTENTS, files: {} });
  expect(pool.models).toEqual(CONTENTS.models.map(({ name }) => name));
  const router = new Router(createPolicy(joust, pool));
  const x = pool.centroids[1]!;
  const candidates = [...pool.models.keys()];
  const { pair } = router.route({ x, candidates, answers: 1 }, Random.seeded(1));
  const scores = pool.told!.map((row) => row[1]!);
  expect(scores[pair[0]]).toBe(Math.max(...scores));
});
