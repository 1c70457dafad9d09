import { expect, it } from "vitest";
import { systemClock } from "../clock/clock.ts";
import { configOf } from "../gateway.fixture.ts";
import { ALONE } from "../peers/peers.ts";
import { newLogger } from "../telemetry/logger.ts";
import { StoredResponses } from "./stored-responses.ts";

it("deletes a response that is still being written", async () => {
  const rows = new Set<string>();
  const isWritten = Promise.withResolvers<void>();
  const responses = new StoredResponses({
    store: {
      // PostgreSQL may run a later statement first.
      saveResponses: async (saved) => {
        await isWritten.promise;
        for (const { id } of saved) rows.add(id);
      },
      response: async () => undefined,
      responses: async () => [],
      deleteResponse: async (id) => void rows.delete(id),
    },
    config: () => configOf("store: {prompts: true}").store,
    clock: systemClock,
    logger: newLogger("silent"),
    peers: ALONE,
  });
  responses.hold("r1", "ann", { kind: "held", model: "m", id: "u1" });
  const deleted = responses.delete("r1");
  expect(await responses.read("r1", "ann")).toBeUndefined();
  isWritten.resolve();
  await deleted;
  expect(rows).toEqual(new Set());
});
