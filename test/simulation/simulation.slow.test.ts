import { afterAll, expect, it } from "vitest";
import { Database } from "./database.ts";
import { simulate } from "./simulation.ts";

const database = new Database();
afterAll(() => database.close());

it("finds nothing wrong with 1,000 other seeds", async () => {
  for (let seed = 1_000_000; seed < 1_001_000; seed++) {
    const { failures } = await simulate(seed, database);
    expect(failures, `seed ${seed}`).toEqual([]);
  }
});
