import { expect, it } from "vitest";
import { newFolder } from "./joust.fixture.ts";
import { chat, startServer } from "./serve.fixture.ts";

it("serve: with no key and no file it serves a sandbox, says how to try it, and stops when told to", async () => {
  const folder = newFolder();
  const { post, process } = await startServer(["--data", folder], folder);
  const asked = "Why is the sky blue?";
  const single = await post("/v1/chat/completions", chat(asked));
  expect(single.status).toBe(200);
  expect(single.headers.get("x-joust-model")).toMatch(/\w/);
  const duel = await post("/v1/chat/completions", chat(asked, { joust: { duel: true } }));
  const { id, choices } = (await duel.json()) as { id: string; choices: unknown[] };
  expect(choices).toHaveLength(2);
  const vote = await post("/v1/feedback", { id, winner: 1 });
  expect(await vote.json()).toMatchObject({ status: "logged" });
  process.kill("SIGTERM");
  const { code, stdout } = await process.end;
  expect(code).toBe(0);
  expect(stdout).toContain("a sandbox of 10");
});
