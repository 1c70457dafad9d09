import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { DAY_MS } from "../decision-id.ts";
import { T0 } from "../events.fixture.ts";
import { newFiles } from "../folder.fixture.ts";
import { daysIn, fileOf, folderOf } from "../sqlite/days.ts";
import { HeadFile } from "../sqlite/head-file.ts";
import { SqliteStore } from "../sqlite/sqlite-store.ts";
import { fill, restoresEverything } from "./backup.case.ts";
import { checkBackup } from "./manifest.ts";
import { backUpSqlite, restoreSqlite } from "./sqlite-backup.ts";
import { problemsInFiles } from "./verify.ts";

const newFolder = newFiles();

function open(file: string): SqliteStore {
  const store = new SqliteStore(file, Date.now);
  onTestFinished(() => store.close());
  return store;
}

async function filled() {
  const folder = newFolder();
  mkdirSync(folder);
  const file = join(folder, "joust.db");
  const store = new SqliteStore(file, Date.now);
  await fill(store);
  await store.close();
  return { folder, file, backup: join(folder, "backup") };
}

describe("a backup of SQLite files", () => {
  it("is made while the store is in use, and restores everything", async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const file = join(folder, "joust.db");
    const target = join(folder, "restored", "joust.db");
    await restoresEverything(
      {
        source: open(file),
        backUp: (backup) => backUpSqlite(file, backup),
        restore: async (backup) => {
          await restoreSqlite(backup, target);
          return open(target);
        },
      },
      folder,
    );
    expect(problemsInFiles(target)).toEqual([]);
  });

  it("has the counts of a day that is dropped at the same time", async () => {
    const { file, folder, backup } = await filled();
    const source = open(file);
    const query = { router: "auto", from: T0, to: T0 + 9 * DAY_MS, step: DAY_MS };
    const counts = await source.tallies(query);
    let isDropped = false;
    await backUpSqlite(file, backup, (name) => {
      if (isDropped || name === join(backup, "joust.db")) return;
      isDropped = true;
      void source.prune({ decisions: T0 + 3 * DAY_MS });
    });
    const target = join(folder, "restored", "joust.db");
    await restoreSqlite(backup, target);
    expect(await open(target).tallies(query)).toEqual(counts);
  });

  it("has the counts of a day once, although a kill has interrupted dropping it", async () => {
    const { file, backup } = await filled();
    const [first, ...others] = daysIn(folderOf(file));
    const day = fileOf(folderOf(file), first!);
    const bytes = readFileSync(day);
    await open(file).prune({ decisions: (first! + 1) * DAY_MS });
    writeFileSync(day, bytes);
    const db = new Sqlite(file);
    db.prepare("INSERT INTO dropped_days VALUES (?)").run(first);
    db.close();
    await backUpSqlite(file, backup);
    // A restore into PostgreSQL adds the counts of all days to those of the main file.
    expect(daysIn(folderOf(join(backup, "joust.db")))).toEqual(others);
  });

  it("can be read by its owner only", async () => {
    const { file, backup } = await filled();
    await backUpSqlite(file, backup);
    const names = readdirSync(backup, { recursive: true }).map(String);
    expect(names.length).toBeGreaterThan(4);
    for (const name of names)
      expect([name, statSync(join(backup, name)).mode & 0o077]).toEqual([name, 0]);
  });

  it("is refused if a file is missing, damaged or not complete", async () => {
    const { file, folder, backup } = await filled();
    const { files } = await backUpSqlite(file, backup);
    for (const { name } of files) {
      const copy = join(backup, name);
      const bytes = readFileSync(copy);
      const changed = Buffer.from(bytes);
      changed[bytes.length >> 1]! ^= 1;
      writeFileSync(copy, changed);
      await expect(restoreSqlite(backup, join(folder, "other", "joust.db"))).rejects.toThrow(
        errorText(/is missing or damaged.*hint:/),
      );
      writeFileSync(copy, bytes);
    }
    await checkBackup(backup);
    rmSync(join(backup, "backup.json"));
    await expect(checkBackup(backup)).rejects.toThrow(errorText(/not a complete backup.*hint:/));
  });

  it("is refused if it has a day that it was not made with, or a list without its main file", async () => {
    const { file, backup } = await filled();
    const { files } = await backUpSqlite(file, backup);
    const day = files.find(({ name }) => name !== "joust.db")!.name;
    const other = join(backup, day.replace(/\d{4}/, "1999"));
    copyFileSync(join(backup, day), other);
    await expect(checkBackup(backup)).rejects.toThrow(errorText(/does not belong.*hint:/));
    rmSync(other);
    await checkBackup(backup);
    const list = join(backup, "backup.json");
    writeFileSync(list, readFileSync(list, "utf8").replace('"joust.db"', '"other.db"'));
    await expect(checkBackup(backup)).rejects.toThrow(errorText(/is damaged.*hint:/));
    writeFileSync(list, JSON.stringify({ ...JSON.parse(readFileSync(list, "utf8")), files: [] }));
    await expect(checkBackup(backup)).rejects.toThrow(errorText(/is damaged.*hint:/));
  });

  it.each(["joust.db-wal", "joust.db-journal", "joust-decisions/DAY-wal"])(
    "is refused if it has a file %s, whose changes SQLite would apply",
    async (name) => {
      const { file, folder, backup } = await filled();
      const { files } = await backUpSqlite(file, backup);
      const day = files.find((one) => one.name !== "joust.db")!.name;
      const planted = join(backup, name.replace("joust-decisions/DAY", day));
      writeFileSync(planted, "planted");
      await expect(restoreSqlite(backup, join(folder, "other", "joust.db"))).rejects.toThrow(
        errorText(/does not belong.*hint:/),
      );
    },
  );

  it("is refused if a file is a link, a folder or a pipe", async () => {
    const { file, folder, backup } = await filled();
    const { files } = await backUpSqlite(file, backup);
    const copy = join(backup, files[0]!.name);
    const moved = join(folder, "moved");
    renameSync(copy, moved);
    const list = join(backup, "backup.json");
    const text = readFileSync(list, "utf8");
    const refused = () =>
      expect(checkBackup(backup)).rejects.toThrow(errorText(/is missing or damaged.*hint:/));
    symlinkSync(moved, copy);
    await refused();
    rmSync(copy);
    mkdirSync(copy);
    const manifest = JSON.parse(text);
    manifest.files[0].bytes = statSync(copy).size;
    writeFileSync(list, JSON.stringify(manifest));
    await refused();
    rmSync(copy, { recursive: true });
    execFileSync("mkfifo", [copy]);
    manifest.files[0].bytes = 0;
    writeFileSync(list, JSON.stringify(manifest));
    await refused();
  });

  it("is restored to files that only their owner may read, whatever became of its own modes", async () => {
    const { file, folder, backup } = await filled();
    const { files } = await backUpSqlite(file, backup);
    for (const { name } of files) chmodSync(join(backup, name), 0o644);
    const target = join(folder, "open");
    mkdirSync(target, { mode: 0o755 });
    writeFileSync(join(target, "joust.db.restoring"), "left by a killed process", { mode: 0o644 });
    await restoreSqlite(backup, join(target, "joust.db"));
    const names = files.map(({ name }) => name);
    for (const name of names)
      expect([name, statSync(join(target, name)).mode & 0o077]).toEqual([name, 0]);
    expect(readdirSync(target).sort()).toEqual(["joust-decisions", "joust.db"]);
  });

  it("is not made of a store with a damaged or missing vote", async () => {
    const { file, folder, backup } = await filled();
    const head = readFileSync(`${file}-head`);
    new HeadFile(file, 1_000_000).close();
    await expect(backUpSqlite(file, backup)).rejects.toThrow(
      errorText(/votes up to position 1000000 were acknowledged.*hint:/),
    );
    writeFileSync(`${file}-head`, head);
    const db = new Sqlite(file);
    db.prepare("UPDATE log SET at = at + 1 WHERE position = 2").run();
    db.close();
    const other = join(folder, "other");
    await expect(backUpSqlite(file, other)).rejects.toThrow(
      errorText(/joust\.db: is damaged: the voted event at position 2 changed; hint:/),
    );
    await expect(checkBackup(other)).rejects.toThrow(errorText(/not a complete backup/));
  });

  it("overwrites nothing", async () => {
    const { file, backup } = await filled();
    await backUpSqlite(file, backup);
    await expect(backUpSqlite(file, backup)).rejects.toThrow(errorText(/is not empty.*hint:/));
    await expect(restoreSqlite(backup, file)).rejects.toThrow(errorText(/exists.*hint:/));
  });

  it.each(["-wal", "-shm", "-journal", "-head"])(
    "is not restored beside a file joust.db%s of another store",
    async (suffix) => {
      const { file, folder, backup } = await filled();
      await backUpSqlite(file, backup);
      const target = join(folder, "killed", "joust.db");
      mkdirSync(join(folder, "killed"));
      writeFileSync(`${target}${suffix}`, "left by a killed process");
      await expect(restoreSqlite(backup, target)).rejects.toThrow(
        errorText(new RegExp(`joust.db${suffix}: exists; hint: .* away first: joust.db${suffix}$`)),
      );
      rmSync(`${target}${suffix}`);
      await restoreSqlite(backup, target);
    },
  );
});

it("verify names damaged files and changes nothing", async () => {
  const { file, folder } = await filled();
  expect(problemsInFiles(file)).toEqual([]);
  const day = readdirSync(join(folder, "joust-decisions")).find((name) => name.endsWith(".db"))!;
  for (const name of ["joust.db", join("joust-decisions", day)]) {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    const changed = Buffer.from(bytes).fill(0, 4096, 12_288);
    writeFileSync(path, changed);
    const problems = problemsInFiles(file);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]).toContain(path);
    expect(readFileSync(path).equals(changed)).toBe(true);
    writeFileSync(path, bytes);
  }
  expect(problemsInFiles(file)).toEqual([]);
});
