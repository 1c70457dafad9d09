import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { joust, newFolder, start } from "./joust.fixture.ts";
import { chat, served, startServer } from "./serve.fixture.ts";

const FAST = "sandbox: {speed: 1000}\n";

describe("joust.yaml", () => {
  it("is reloaded after a change; an invalid file is reported, and the previous one stays in use", async () => {
    const folder = newFolder();
    const file = join(folder, "joust.yaml");
    writeFileSync(file, FAST);
    const { url, process } = await startServer(["--data", folder], folder);
    let stderr = "";
    process.stderr!.on("data", (piece: string) => {
      stderr += piece;
    });
    const names = async () => {
      const { data } = (await (await fetch(`${url}/v1/models`)).json()) as {
        data: { id: string }[];
      };
      return data.map(({ id }) => id);
    };
    const invalid = async () => {
      const response = await fetch(`${url}/v1/admin/configuration`);
      return ((await response.json()) as { invalid?: { problem: string } }).invalid;
    };
    expect(await names()).not.toContain("second");
    writeFileSync(file, `${FAST}routers: {auto: {}, second: {models: [abacus-14b]}}\n`);
    await expect.poll(names).toContain("second");
    writeFileSync(file, `${FAST}routers:\n  auto: {explore: 7}\n`);
    await expect.poll(() => stderr).toMatch(/joust\.yaml:3: field "routers\.auto\.explore"/);
    writeFileSync(file, `${FAST}routers:\n  auto:\n    policy: nobody\n`);
    await expect.poll(() => stderr).toMatch(/joust\.yaml:4: .*"nobody" is not a policy/);
    await expect
      .poll(invalid)
      .toMatchObject({ problem: expect.stringMatching(/:4: .*"nobody" is not a policy/) });
    expect(await names()).toContain("second");
    writeFileSync(file, `${FAST}store: {url: 'postgres://127.0.0.1:1/none'}\n`);
    await expect.poll(() => stderr).toMatch(/not changed, because this requires a restart: /);
    await expect.poll(invalid).toBeUndefined();
    process.kill("SIGTERM");
    expect((await process.end).code).toBe(0);
  });

  it("can be checked without serving it", async () => {
    const folder = newFolder();
    writeFileSync(join(folder, "joust.yaml"), "routers:\n  auto: {models: [gpt-0]}\n");
    const bad = await start(["serve", "--check"], folder).end;
    expect(bad.code).toBe(2);
    expect(bad.stderr).toMatch(
      /joust\.yaml:2: field "routers\.auto\.models\.0": "gpt-0" is not known\nhint: /,
    );
    const many = "server: {port: x, hots: a}\nrouters: {auto: {explore: 2}}\n";
    writeFileSync(join(folder, "joust.yaml"), many);
    const all = await start(["serve", "--check"], folder).end;
    expect(all.code).toBe(2);
    for (const field of ["server.port", "server.hots", "routers.auto.explore"]) {
      expect(all.stderr).toContain(`field "${field}"`);
    }
    expect(all.stderr).toContain("3 errors");
    writeFileSync(join(folder, "joust.yaml"), FAST);
    const good = await start(["serve", "--check"], folder).end;
    expect([good.code, good.stderr]).toEqual([0, ""]);
    expect(good.stdout).toContain("abacus-14b");
    const open = await start(["serve", "--check", "--host", "0.0.0.0"], folder).end;
    expect(open.stdout).toContain("starts only if there is an API key");
  });
});

it("keys can be created, used, listed and revoked", async () => {
  const folder = newFolder();
  const made = await joust(
    "keys",
    "add",
    "ann",
    "--data",
    folder,
    "--budget",
    "5",
    "--concurrent",
    "20",
  );
  const secret = made.stdout.trim();
  expect(secret).toMatch(/^jst_/);
  writeFileSync(join(folder, "joust.yaml"), FAST);
  const { url, process } = await startServer(["--data", folder], folder);
  const ask = (key: string) =>
    fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
  expect((await ask("jst_other")).status).toBe(401);
  expect((await ask(secret)).status).toBe(200);
  expect((await joust("keys", "list", "--data", folder)).stdout).toMatch(
    /^ann .*of \$5 this month; 20 concurrent requests$/m,
  );
  const changed = await joust("keys", "concurrent", "ann", "30", "--data", folder);
  expect(changed.stdout).toMatch(/^ann .* may send up to 30 concurrent requests$/m);
  const refused = await joust("keys", "concurrent", "ann", "0.5", "--data", folder);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("below 1")]);
  const unlimited = await joust("keys", "concurrent", "ann", "--data", folder);
  expect(unlimited.stdout).toMatch(
    /^ann .* may send up to server\.concurrent concurrent requests$/m,
  );
  expect((await joust("keys", "revoke", "ann", "--data", folder)).code).toBe(0);
  await expect.poll(async () => (await ask(secret)).status).toBe(401);
  expect(readFileSync(join(folder, "joust.db")).includes(secret)).toBe(false);
  process.kill("SIGTERM");
  const { stdout } = await process.end;
  expect(stdout.match(/curl .* -H 'authorization: Bearer YOUR_KEY'/g)).toHaveLength(3);
});

it("the variable PORT chooses the port, as application platforms expect", async () => {
  const folder = newFolder();
  const bad = await start(["serve", "--check"], folder, [], { PORT: "abc" }).end;
  expect(bad.stderr).toContain('--port (or PORT): is "abc", not a number');
  const child = start(["serve", "--data", folder], folder, [], { PORT: "0" });
  const { url } = await served(child);
  expect(new URL(url).port).not.toBe("8080");
  child.kill("SIGTERM");
  expect((await child.end).code).toBe(0);
});

it("a port in use is reported by a single process with the option that chooses another", async () => {
  const folder = newFolder();
  const { url, process } = await startServer(["--data", folder], folder);
  const { port } = new URL(url);
  const alone = ["serve", "--processes", "1", "--port", port, "--data", folder];
  const second = await start(alone, folder).end;
  expect([second.code, second.stderr]).toEqual([
    2,
    expect.stringMatching(/^joust: --port: .*\(EADDRINUSE\)\nhint: choose another port, .*--port/),
  ]);
  process.kill("SIGTERM");
  await process.end;
});

it("ends on SIGTERM although nobody reads its stderr any more", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "joust.yaml"), `${FAST}server: {log: info}\n`);
  const { post, process } = await startServer(["--data", folder], folder);
  process.stderr!.destroy();
  for (let i = 0; i < 5; i++) {
    expect((await post("/v1/chat/completions", chat(`Question ${i}`))).status).toBe(200);
  }
  const exited = once(process, "exit");
  process.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});

/** A short form of `bench faults`, which kills a thousand times. */
it("after kills at any moment, every acknowledged vote is in the log once, and replay matches the snapshot", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "joust.yaml"), FAST);
  const acknowledged = new Set<string>();
  for (let round = 0; round < 8; round++) {
    const { post, process } = await startServer(["--data", folder], folder);
    let isKilled = false;
    const before = acknowledged.size;
    const clients = Array.from({ length: 4 }, async (_, client) => {
      for (let i = 0; !isKilled; i++) {
        try {
          const body = chat(`Question ${round} ${client} ${i}`, { joust: { duel: true } });
          const duel = await post("/v1/chat/completions", body);
          const { id } = (await duel.json()) as { id: string };
          const vote = await post("/v1/feedback", { id, winner: i % 2 });
          if (vote.status === 200) acknowledged.add(id.slice("chatcmpl-".length));
        } catch {
          return; // killed
        }
      }
    });
    await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 2 * round);
    process.kill("SIGKILL");
    await process.end;
    isKilled = true;
    await Promise.all(clients);
  }
  expect(acknowledged.size).toBeGreaterThan(50);
  const { url, process } = await startServer(["--data", folder], folder);
  for (const id of acknowledged) {
    const decision = (await (await fetch(`${url}/v1/decisions/${id}`)).json()) as {
      votes?: unknown[];
    };
    expect([id, decision.votes?.length]).toEqual([id, 1]);
  }
  process.kill("SIGTERM");
  await process.end;
  const replayed = await joust("replay", "--data", folder, "--json");
  const { snapshot, votes } = JSON.parse(replayed.stdout);
  expect(snapshot.matches).toBe(true);
  expect(votes.votes).toBeGreaterThanOrEqual(acknowledged.size);
});
