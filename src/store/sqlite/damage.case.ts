import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { InputError } from "../../core/input/input-error.ts";
import type { Random } from "../../core/random/random.ts";
import { answered, configured, routed, T0, vote } from "../events.fixture.ts";
import type { LogEvent, Logged } from "../events.ts";
import { SqliteStore } from "./sqlite-store.ts";

/** A data folder as a killed process leaves it: the newest votes are only in the write-ahead log. */
export async function killedFolder(folder: string): Promise<Logged<LogEvent>[]> {
  const open = join(folder, "open");
  mkdirSync(open, { recursive: true });
  const store = new SqliteStore(join(open, "joust.db"), Date.now);
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  await store.append([configured(), ...range(0, 300).map((n) => vote(n))]);
  await store.record(range(0, 100).flatMap((n) => [routed(n), answered(n, 0)]));
  const token = (await store.acquireLease("auto", "test", 1e9))!;
  for (const position of [100, 200]) {
    const state = Buffer.alloc(3000, `state ${position}`);
    const at = T0 + position * 3_600_000;
    await store.saveSnapshot({ router: "auto", position, at, hash: "h", state }, token);
  }
  await store.close();
  const again = new SqliteStore(join(open, "joust.db"), Date.now);
  for (const n of range(300, 330)) await again.append([vote(n)]);
  await again.record(range(100, 120).map((n) => routed(n)));
  const events = await again.logEvents("auto", 0, 1000);
  cpSync(open, join(folder, "killed"), { recursive: true });
  await again.close();
  return events;
}

/**
 * Damages a copy of the folder at random and opens it. Either everything that was acknowledged is
 * there and more can be added, or the store refuses to open with an error for the operator.
 */
export async function survivesDamage(
  folder: string,
  events: readonly Logged<LogEvent>[],
  random: Random,
): Promise<"opened" | "refused"> {
  const copy = join(folder, "copy");
  rmSync(copy, { recursive: true, force: true });
  cpSync(join(folder, "killed"), copy, { recursive: true });
  const what = damage(copy, random);
  const file = join(copy, "joust.db");
  let store: SqliteStore;
  try {
    store = new SqliteStore(file, Date.now);
  } catch (error) {
    expect(error, what).toBeInstanceOf(InputError);
    expect((error as InputError).hint, what).toMatch(/restore/);
    return "refused";
  }
  expect(await store.logEvents("auto", 0, 1000), what).toEqual(events);
  const [snapshot] = [await store.snapshot("auto")];
  if (snapshot) {
    expect(Buffer.from(snapshot.state), what).toEqual(
      Buffer.alloc(3000, `state ${snapshot.position}`),
    );
  }
  await store.record([routed(500), answered(500, 0)]);
  expect(await store.decision("d500"), what).toBeDefined();
  await store.append([vote(500)]);
  await store.close();
  const after = new SqliteStore(file, Date.now);
  const all = await after.logEvents("auto", 0, 1000);
  await after.close();
  expect(all.slice(0, -1), what).toEqual(events);
  expect(all.at(-1), what).toMatchObject({ decision: "d500" });
  return "opened";
}

/** Damages one file of a folder, and sometimes two. Returns what was done. */
function damage(folder: string, random: Random): string {
  const files = ["joust.db", "joust.db", "joust.db-wal", "joust.db-wal", "joust.db-head"].concat(
    readdirSync(join(folder, "joust-decisions")).map((name) => `joust-decisions/${name}`),
  );
  const count = random.uniform() < 0.2 ? 2 : 1;
  return Array.from({ length: count }, () => {
    const name = files[random.integer(files.length)]!;
    const file = join(folder, name);
    if (!existsSync(file)) return "";
    const bytes = readFileSync(file);
    const at = random.integer(bytes.length);
    const length = Math.min(bytes.length - at, 1 + random.integer(10_000));
    const kind = random.integer(5);
    if (kind === 0) {
      truncateSync(file, at);
      return `${name} truncated at ${at}`;
    }
    if (kind === 1) bytes.fill(0, at, at + length);
    else if (kind === 2) for (let i = at; i < at + length; i++) bytes[i] = random.integer(256);
    // The head of a file and single bits are small targets, so they get attempts of their own.
    else if (kind === 3)
      bytes[random.integer(Math.min(bytes.length, 110))]! ^= 1 << random.integer(8);
    else bytes[at]! ^= 1 << random.integer(8);
    writeFileSync(file, bytes);
    return `${name} damaged at ${at}, ${length} bytes, kind ${kind}`;
  }).join(" and ");
}
