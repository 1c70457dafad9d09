import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import Sqlite from "better-sqlite3";
import { Random } from "../../src/core/random/random.ts";
import { vote } from "../../src/store/events.fixture.ts";
import { openSqlite } from "../../src/store/sqlite/open.ts";
import { inFolder, MAIN, startGateway } from "../gateway-process.ts";
import { post, send } from "../http.ts";
import { type Attack, duelOn, SANDBOX } from "./attack.ts";

const run = promisify(execFile);

export const DISK_ATTACKS: readonly Attack[] = [
  {
    item: "3",
    attack: "another user plants compiled code in the temporary folder",
    before: "the planted file ran as Joust's user",
    run: plantedCode,
  },
  {
    item: "9",
    attack: "25 bad pages in the database, 10 times",
    before: "starts, reports store: up, acknowledges votes",
    run: badPages,
  },
  {
    item: "9",
    attack: "the newest snapshot is zeroed",
    before: "does not start, stack trace",
    run: zeroedSnapshot,
  },
  {
    item: "11",
    attack: "look for a forgotten voter in all files",
    before: "rows with name and embeddings remain, statistics count them",
    run: forgotten,
  },
  {
    item: "13d",
    attack: "read the list of processes",
    before: "password of the database",
    run: processList,
  },
  {
    item: "13e",
    attack: "roll back after a clock that was ahead was set back",
    before: "25 of 65 votes undone",
    run: clockSetBack,
  },
];

/** Runs a command of joust and returns its exit code and output. */
async function joust(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const options = { env: { ...process.env, ...env }, maxBuffer: 2 ** 27 };
  return run(process.execPath, [MAIN, ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: { code: number; stdout: string; stderr: string }) => ({
      code: error.code,
      output: error.stdout + error.stderr,
    }),
  );
}

function plantedCode() {
  return inFolder(async (folder) => {
    const planted = join(folder, "node-compile-cache");
    const cache = join(folder, "cache", "joust", "compiled");
    for (const one of [planted, cache]) {
      await mkdir(one, { recursive: true });
      await chmod(one, 0o777);
    }
    // Node reports every file of compiled code that it looks for.
    const env = {
      TMPDIR: folder,
      XDG_CACHE_HOME: join(folder, "cache"),
      NODE_DEBUG_NATIVE: "COMPILE_CACHE",
      NODE_COMPILE_CACHE: "",
    };
    const { code, output } = await joust(["--version"], env);
    const touched = output.split("\n").filter((line) => line.includes(folder));
    const files = [...(await readdir(planted)), ...(await readdir(cache))];
    return {
      now: `exit ${code}; ${touched.length} accesses to folders that others can write to`,
      held: code === 0 && touched.length === 0 && files.length === 0,
    };
  });
}

/** Fills a data folder through a gateway: duels with votes of two voters. */
async function fill(folder: string, duels: number): Promise<void> {
  await writeFile(join(folder, "joust.yaml"), SANDBOX);
  const { url, end } = await startGateway(folder);
  for (let i = 0; i < duels; i++) {
    const { id } = await duelOn(url, `Question ${i}`);
    const voter = i % 2 ? "bob" : "alice-7391-secret";
    await post(`${url}/v1/feedback`, { id, winner: i % 3 ? 0 : 1, voter });
  }
  await end("SIGTERM");
}

function badPages() {
  return inFolder(async (folder) => {
    await fill(folder, 20);
    const file = join(folder, "joust.db");
    const store = await openSqlite(file);
    for (let n = 0; n < 3000; n += 500) {
      await store.append(Array.from({ length: 500 }, (_, k) => vote(n + k)));
    }
    await store.close();
    const whole = await readFile(file);
    const random = Random.seeded(1);
    const seen = new Map<string, number>();
    let wrong = "";
    for (let round = 0; round < 10; round++) {
      const damaged = Buffer.from(whole);
      for (let i = 0; i < 25; i++) {
        const page = random.integer(damaged.length / 4096);
        for (let k = 0; k < 4096; k++) damaged[page * 4096 + k] = random.integer(256);
      }
      for (const name of await readdir(folder)) {
        if (/^joust\.db-/.test(name)) await writeFile(join(folder, name), "");
      }
      await writeFile(file, damaged);
      const result = await startGateway(folder).then(
        async (gateway) => {
          await gateway.end("SIGKILL");
          return "started";
        },
        (error: Error) => (/ at .*\.ts:\d+/.test(error.message) ? "stack trace" : "refused"),
      );
      seen.set(result, (seen.get(result) ?? 0) + 1);
      if (result !== "refused") wrong = result;
    }
    return {
      now: [...seen].map(([name, count]) => `${count} of 10 ${name}`).join(", "),
      held: wrong === "",
    };
  });
}

function zeroedSnapshot() {
  return inFolder(async (folder) => {
    await fill(folder, 20);
    const db = new Sqlite(join(folder, "joust.db"));
    const { changes } = db
      .prepare(
        `UPDATE snapshots SET state = zeroblob(length(state))
         WHERE position = (SELECT max(position) FROM snapshots WHERE router = 'auto')`,
      )
      .run();
    db.close();
    const gateway = await startGateway(folder).catch(() => undefined);
    await gateway?.end("SIGTERM");
    const verified = await joust(["verify", "--data", folder]);
    return {
      now: `${gateway ? "starts" : "does not start"}; joust verify exits with ${verified.code} afterwards`,
      held: changes === 1 && gateway !== undefined && verified.code === 0,
    };
  });
}

function forgotten() {
  return inFolder(async (folder) => {
    await fill(folder, 40);
    const name = "alice-7391-secret";
    const before = await occurrences(folder, name);
    const gateway = await startGateway(folder);
    const request = await post(`${gateway.url}/v1/admin/routers/auto/forget`, { voter: name });
    const stats = JSON.parse((await send(`${gateway.url}/v1/stats`)).text);
    await gateway.end("SIGTERM");
    const after = await occurrences(folder, name);
    const exported = (await joust(["votes", "export", "--data", folder])).output;
    const verified = await joust(["verify", "--data", folder]);
    return {
      now: `${JSON.parse(request.text).forgotten} votes forgotten; name ${before} times in files before, ${after} after; ${stats.counts.votes} votes in statistics; verify exits with ${verified.code}`,
      held:
        before > 0 &&
        after === 0 &&
        !exported.includes(name) &&
        stats.counts.votes === 20 &&
        verified.code === 0,
    };
  });
}

/** How often a text occurs in the files of a folder. */
async function occurrences(folder: string, text: string): Promise<number> {
  let count = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    const bytes = await readFile(join(folder, name)).catch(() => Buffer.alloc(0));
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) count++;
  }
  return count;
}

async function processList() {
  // A database that says nothing, so that the command waits.
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const secret = "hunter2hunter2";
  const url = `postgres://joust:${secret}@127.0.0.1:${port}/joust`;
  const child = spawn(process.execPath, [MAIN, "replay", "--database", url], { stdio: "ignore" });
  await once(server, "connection");
  const shown = await readFile(`/proc/${child.pid}/cmdline`, "utf8");
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
  server.close();
  const isShown = shown.includes(secret);
  return { now: isShown ? "password shown" : "password replaced by ***", held: !isShown };
}

function clockSetBack() {
  return inFolder(async (folder) => {
    await fill(folder, 40);
    const store = await openSqlite(join(folder, "joust.db"));
    const ahead = Date.now() + 3_600_000;
    await store.append(
      Array.from({ length: 20 }, (_, n) =>
        vote(n, { outcome: "a" }, { at: ahead + n, decided: ahead }),
      ),
    );
    const position = await store.head("auto");
    await store.close();
    const { url, end } = await startGateway(folder);
    for (let i = 0; i < 5; i++) {
      const { id } = await duelOn(url, `Question ${i}`);
      await post(`${url}/v1/feedback`, { id, winner: 0 });
    }
    const rollBack = async (target: object): Promise<number> => {
      const reply = await post(`${url}/v1/admin/routers/auto/rollback`, target);
      return JSON.parse(reply.text).undone;
    };
    const later = await rollBack({ to: new Date(Date.now() + 1).toISOString() });
    const exact = await rollBack({ position });
    await end("SIGTERM");
    return {
      now: `${later} of 65 undone by a time after the last vote, ${exact} by the position before the last 5`,
      held: later === 0 && exact === 5,
    };
  });
}
