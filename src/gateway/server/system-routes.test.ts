import { expect, it } from "vitest";
import { startGateway } from "../gateway.fixture.ts";

it("makes one backup at a time", async () => {
  const { post, store } = await startGateway("");
  const [isRunning, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const save = store.saveAudit.bind(store);
  // The record of the audit log is the last step of a backup.
  store.saveAudit = async (record) => {
    isRunning.resolve();
    await mayEnd.promise;
    return save(record);
  };
  const first = post("/v1/admin/backup", {});
  await isRunning.promise;
  const second = await post("/v1/admin/backup", {});
  expect([second.status, second.json.error]).toMatchObject([
    409,
    { code: "backup_running", hint: "wait until it is complete" },
  ]);
  mayEnd.resolve();
  expect((await first).status).toBe(200);
  expect((await post("/v1/admin/backup", {})).status).toBe(200);
});
