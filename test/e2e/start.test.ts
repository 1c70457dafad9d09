import { once } from "node:events";
import { join } from "node:path";
import { expect, it } from "vitest";
import { newFolder, ROOT } from "./joust.fixture.ts";
import { chat, startServer } from "./serve.fixture.ts";

it("serve without key and file serves a sandbox, routes, votes, and stops on SIGTERM", async () => {
  const folder = newFolder();
  const { post, process } = await startServer(["--data", folder], folder);
  const question = "Why is the sky blue?";
  const single = await post("/v1/chat/completions", chat(question));
  expect(single.status).toBe(200);
  expect(single.headers.get("x-joust-model")).toMatch(/\w/);
  const duel = await post("/v1/chat/completions", chat(question, { joust: { duel: true } }));
  const { id, choices } = (await duel.json()) as { id: string; choices: unknown[] };
  expect(choices).toHaveLength(2);
  const vote = await post("/v1/feedback", { id, winner: 1 });
  expect(await vote.json()).toMatchObject({ status: "logged" });
  process.kill("SIGTERM");
  const { code, stdout } = await process.end;
  expect(code).toBe(0);
  expect(stdout).toContain("a sandbox of 5");
});

it("stops on the first SIGTERM after a garbage collection", async () => {
  const folder = newFolder();
  const collector = ["--import", join(ROOT, "test/e2e/garbage.child.fixture.ts")];
  const { process, url } = await startServer(["--data", folder], folder, collector);
  const stream = await fetch(`${url}/v1/events`);
  process.kill("SIGUSR2");
  await once(process.stderr!, "data");
  process.kill("SIGTERM");
  // The stream of events ends only if the gateway has noticed that it stops.
  await stream.text();
  expect(await process.end).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("collected"),
  });
});
