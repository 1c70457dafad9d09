import { expect, it } from "vitest";
import { newFolder, start } from "./joust.fixture.ts";

it("serve: with no key and no file it serves a sandbox, says how to try it, and stops when told to", async () => {
  const folder = newFolder();
  const gateway = start(["serve", "--port", "0", "--data", folder], folder);
  const url = await new Promise<string>((found, fail) => {
    let said = "";
    gateway.stdout!.on("data", (piece: string) => {
      said += piece;
      const address = /^Joust serves (http:\S+)/.exec(said)?.[1];
      if (address && said.includes("/v1/feedback")) found(address);
    });
    gateway.end.then(({ stderr }) => fail(new Error(stderr)));
  });
  const ask = (joust: object) =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({
        model: "auto",
        joust,
        messages: [{ role: "user", content: "Why is the sky blue?" }],
      }),
    });
  const single = await ask({});
  expect(single.status).toBe(200);
  expect(single.headers.get("x-joust-model")).toMatch(/\w/);
  const duel = (await (await ask({ duel: true })).json()) as { id: string; choices: unknown[] };
  expect(duel.choices).toHaveLength(2);
  const vote = await fetch(`${url}/v1/feedback`, {
    method: "POST",
    body: JSON.stringify({ id: duel.id, winner: 1 }),
  });
  expect(await vote.json()).toMatchObject({ status: "logged" });
  gateway.kill("SIGTERM");
  const { code, stdout } = await gateway.end;
  expect(code).toBe(0);
  expect(stdout).toContain("a sandbox of 10");
});
