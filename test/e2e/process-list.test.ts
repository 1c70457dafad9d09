import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { joust, start } from "./joust.fixture.ts";

it.runIf(process.platform === "linux")(
  "a password in an address does not stay in the list of processes",
  async () => {
    // A database that accepts connections and says nothing, so that the command waits.
    const database = createServer(() => {});
    await new Promise<void>((done) => database.listen(0, "127.0.0.1", done));
    onTestFinished(() => void database.close());
    const { port } = database.address() as AddressInfo;
    const connected = new Promise((done) => database.once("connection", done));
    const url = `postgres://joust:hunter2hunter2@127.0.0.1:${port}/joust`;
    const child = start(["work", "--workers", url]);
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await child.end;
    });
    await connected;
    const shown = readFileSync(`/proc/${child.pid}/cmdline`, "utf8");
    expect(shown).toContain("joust:***@127.0.0.1");
    expect(shown).not.toContain("hunter2");
  },
);

it("an error about an address does not print its password", async () => {
  const { code, stderr } = await joust("encode", "postgres://joust:hunter2hunter2@127.0.0.1/joust");
  expect(code).toBe(2);
  expect(stderr).toContain("joust: postgres://joust:***@127.0.0.1/joust: does not exist");
});
