import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { joust, newFolder } from "./joust.fixture.ts";
import { chat, startServer } from "./serve.fixture.ts";

const FAST = "sandbox: {speed: 1000}\n";
const KEYS = `keys:
  load: {key: load-0123456789abc, scopes: [admin]}
  slow: {key: slow-0123456789abc, rate: 4}
`;

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends a request on a connection of its own, which any process may get. */
function send(url: string, path: string, key: string, body?: object): Promise<Answer> {
  return new Promise((found, fail) => {
    const headers = { authorization: `Bearer ${key}-0123456789abc` };
    const method = body ? "POST" : "GET";
    const sent = request(`${url}${path}`, { method, headers, agent: ALONE }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => found({ status: response.statusCode!, text }));
      response.on("error", fail);
    });
    sent.on("error", fail);
    sent.end(body && JSON.stringify(body));
  });
}

const ALONE = new Agent({ keepAlive: false });

/** Ids of the processes that a process has started. */
function childrenOf(pid: number): number[] {
  const list = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat="], { encoding: "utf8" });
  return list.split("\n").flatMap((line) => {
    const [own, parent, state] = line.trim().split(/\s+/);
    return Number(parent) === pid && !state?.startsWith("Z") ? [Number(own)] : [];
  });
}

it("two processes serve one port; they share limits and events, reload without a refused connection, and lose no vote to kills", async () => {
  const folder = newFolder();
  const file = join(folder, "joust.yaml");
  writeFileSync(file, `${FAST}${KEYS}`);
  const { url, process } = await startServer(["--data", folder, "--processes", "2"], folder);
  let stderr = "";
  process.stderr!.on("data", (piece: string) => {
    stderr += piece;
  });
  const metric = async (name: string) => {
    const { text } = await send(url, "/metrics", "load");
    return Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1]);
  };
  await expect.poll(() => metric("joust_processes")).toBe(2);

  // A rate holds for both processes.
  const limited: number[] = [];
  for (let i = 0; i < 8; i++) limited.push((await send(url, "/v1/models", "slow")).status);
  expect(limited.filter((status) => status === 200)).toHaveLength(4);

  // A page sees the decisions of both processes.
  const page = new AbortController();
  const headers = { authorization: "Bearer load-0123456789abc" };
  const stream = await fetch(`${url}/v1/events`, { signal: page.signal, headers });
  let events = "";
  (async () => {
    for await (const piece of stream.body!) events += new TextDecoder().decode(piece);
  })().catch(() => {});
  for (let i = 0; i < 6; i++) {
    const { text } = await send(url, "/v1/chat/completions", "load", chat(`Page ${i}`));
    const { joust: note } = JSON.parse(text) as { joust: { decision_id: string } };
    await expect.poll(() => events).toContain(note.decision_id);
  }
  page.abort();

  const load = { isOver: false, acknowledged: new Set<string>(), errors: [] as unknown[] };
  const clients = Array.from({ length: 4 }, async (_, client) => {
    for (let i = 0; !load.isOver; i++) {
      try {
        const body = chat(`Question ${client} ${i}`, { joust: { duel: true } });
        const duel = await send(url, "/v1/chat/completions", "load", body);
        const { id } = JSON.parse(duel.text) as { id: string };
        const vote = await send(url, "/v1/feedback", "load", { id, winner: i % 2 });
        if (vote.status === 200) load.acknowledged.add(id.slice("chatcmpl-".length));
        else load.errors.push(vote.text);
      } catch (error) {
        load.errors.push(error);
      }
    }
  });
  const more = async (votes: number) => {
    const before = load.acknowledged.size;
    await expect.poll(() => load.acknowledged.size).toBeGreaterThanOrEqual(before + votes);
  };

  // A changed file and a signal reload both processes, and no connection is refused.
  await more(10);
  writeFileSync(file, `${FAST}${KEYS}routers: {auto: {}, second: {models: [abacus-14b]}}\n`);
  const reloads = () => stderr.match(/the configuration was reloaded/g)?.length ?? 0;
  await expect.poll(reloads).toBe(1);
  process.kill("SIGHUP");
  await expect.poll(reloads).toBe(2);
  for (let i = 0; i < 4; i++) {
    expect((await send(url, "/v1/models", "load")).text).toContain('"second"');
  }
  await more(10);
  expect(load.errors).toEqual([]);

  // Killed processes are replaced. Only the requests that they were answering fail.
  for (let round = 0; round < 2; round++) {
    const [oldest] = childrenOf(process.pid!);
    globalThis.process.kill(oldest!, "SIGKILL");
    await expect
      .poll(() => stderr.match(/"reason":"signal SIGKILL"/g)?.length ?? 0)
      .toBe(round + 1);
    await more(10);
    await expect.poll(() => metric("joust_processes")).toBe(2);
  }
  expect(await metric("joust_process_restarts_total")).toBe(2);
  expect(childrenOf(process.pid!)).toHaveLength(2);

  // SIGTERM under load ends all processes.
  await more(10);
  const children = childrenOf(process.pid!);
  process.kill("SIGTERM");
  const { code } = await process.end;
  load.isOver = true;
  await Promise.all(clients);
  expect(code).toBe(0);
  for (const child of children) expect(() => globalThis.process.kill(child, 0)).toThrow(/ESRCH/);

  // Every acknowledged vote is in the log once, and the posterior is that of a replay.
  const store = new SqliteStore(join(folder, "joust.db"), Date.now);
  const logged = await store.logEvents("auto", 0, 100_000);
  await store.close();
  const votes = logged.flatMap((event) => (event.kind === "voted" ? [event.decision] : []));
  expect(new Set(votes).size).toBe(votes.length);
  expect(votes).toEqual(expect.arrayContaining([...load.acknowledged]));
  const replayed = await joust("replay", "--data", folder, "--json");
  expect(JSON.parse(replayed.stdout).snapshot.matches).toBe(true);
});

it("a port in use and a wrong number of processes are reported", async () => {
  const folder = newFolder();
  const few = await joust("serve", "--processes", "0", "--data", folder);
  expect([few.code, few.stderr]).toEqual([2, expect.stringContaining("--processes")]);
  const { url, process } = await startServer(["--data", folder, "--processes", "1"], folder);
  const { port } = new URL(url);
  const second = await joust("serve", "--port", port, "--data", newFolder(), "--processes", "2");
  expect([second.code, second.stderr]).toEqual([
    2,
    expect.stringMatching(/^joust: --port: .*\(EADDRINUSE\)\nhint: choose another port/m),
  ]);
  process.kill("SIGTERM");
  await process.end;
});
