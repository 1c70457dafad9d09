import { expect, it } from "vitest";
import { startGateway } from "../gateway.fixture.ts";

it("makes one backup at a time", async () => {
  const { post } = await startGateway("");
  const answers = await Promise.all([1, 2, 3].map(() => post("/v1/admin/backup", {})));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  expect(answers.find(({ status }) => status === 409)?.json.error).toMatchObject({
    code: "backup_running",
    hint: "wait until it is complete",
  });
  expect((await post("/v1/admin/backup", {})).status).toBe(200);
});
