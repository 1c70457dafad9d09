import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { serveHub, tinyRepository } from "../../src/core/encoder/download/hub.fixture.ts";
import { joust, newFolder, start } from "./joust.fixture.ts";

it("models get: Ctrl-C keeps the received bytes, and the same command resumes", async () => {
  const models = newFolder();
  const half = Promise.withResolvers<void>();
  let stalled = false;
  const { endpoint, requests } = await serveHub(tinyRepository(), ({ url, bytes }, response) => {
    if (stalled || !url.endsWith("/model.safetensors")) return undefined;
    stalled = true;
    response.writeHead(200, { "content-length": bytes!.length });
    response.write(bytes!.subarray(0, 2000), () => half.resolve());
    return true;
  });
  const args = ["models", "get", "owner/tiny", "--endpoint", endpoint, "--models", models];
  const child = start(args);
  await Promise.race([
    half.promise.then(() => partOf(join(models, "tiny.download"), 2000)),
    child.end,
  ]);
  child.kill("SIGINT");
  const stopped = await child.end;
  expect([stopped.code, stopped.stdout]).toEqual([130, ""]);
  expect(stopped.stderr).toBe("joust: stopped; run the same command again to continue\n");
  expect(readdirSync(models)).toEqual(["tiny.download"]);

  const { code, stdout, stderr } = await joust(...args);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toBe(`owner/tiny is now in ${join(models, "tiny")}\n`);
  expect(requests.at(-1)).toMatchObject({ range: "bytes=2000-" });
  expect(readdirSync(models)).toEqual(["tiny"]);
});

it("models: bad input exits with 2 and a hint", async () => {
  const unknown = await joust("models", "get", "MiniML");
  expect([unknown.code, unknown.stdout]).toEqual([2, ""]);
  expect(unknown.stderr).toMatch(
    /^joust: MiniML: is not a model .*\nhint: did you mean "MiniLM"\?.*\n$/,
  );
  const forgotten = await joust("models", "get");
  expect([forgotten.code, forgotten.stderr]).toEqual([
    2,
    "joust: missing required argument 'name'\nhint: run npx joust models get --help\n",
  ]);
  const help = await joust("models", "--help");
  expect(help.code).toBe(0);
  expect(help.stdout).toContain("models get MiniLM");
});

/** Waits until everything that the server has sent is on the disk. */
async function partOf(folder: string, size: number): Promise<void> {
  const written = () =>
    readdirSync(folder)
      .filter((name) => /^model\.safetensors\..*\.part$/.test(name))
      .some((name) => statSync(join(folder, name)).size === size);
  while (!written()) await new Promise((resolve) => setTimeout(resolve, 10));
}
