import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import type { Store } from "../store/store.ts";
import { findPolicy } from "./events.fixture.ts";
import { History } from "./history.ts";

const NODE = fileURLToPath(new URL("./node.fixture.ts", import.meta.url));

/** A node as a process (node.fixture.ts), and what it has printed. */
export class NodeProcess {
  readonly acknowledged: string[] = [];
  /** Version and hash of the posterior that it served last. */
  served: { readonly version: number; readonly hash: string } | undefined;
  errors = "";
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  #ready = Promise.withResolvers<void>();

  constructor(name: string, place: string, leaseMs: number) {
    this.#child = spawn(process.execPath, [NODE, name, place, String(leaseMs)]);
    onTestFinished(() => void this.#child.kill("SIGKILL"));
    this.#exit = once(this.#child, "close").then(() => this.#ready.resolve());
    let rest = "";
    this.#child.stdout!.setEncoding("utf8").on("data", (piece: string) => {
      const lines = (rest + piece).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.#read(line);
    });
    this.#child.stderr!.setEncoding("utf8").on("data", (piece: string) => {
      this.errors += piece;
    });
  }

  #read(line: string): void {
    const [word, ...rest] = line.split(" ");
    if (word === "ack") this.acknowledged.push(rest.join(" "));
    else if (word === "served") this.served = { version: Number(rest[0]), hash: rest[1]! };
    else if (word === "ready") this.#ready.resolve();
  }

  ready(): Promise<void> {
    return this.#ready.promise;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async end(name: NodeJS.Signals): Promise<void> {
    this.#child.kill(name);
    await this.#exit;
  }
}

/**
 * Expects that every acknowledged vote is in the log exactly once, that a learner which continues
 * from the last snapshot and a full replay have the same posterior, and that the nodes served it.
 */
export async function expectNothingLost(
  store: Store,
  nodes: readonly NodeProcess[],
): Promise<void> {
  expect(nodes.map(({ errors }) => errors).join("")).toBe("");
  const events = await store.logEvents("auto", 0, 1e7);
  const votes = events.flatMap((e) => (e.kind === "voted" ? [`${e.decision} ${e.voter}`] : []));
  expect(new Set(votes).size).toBe(votes.length);
  const acknowledged = nodes.flatMap((node) => node.acknowledged);
  const logged = new Set(votes);
  expect(acknowledged.filter((vote) => !logged.has(vote))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(nodes.length);

  const learner = new History(store, "auto", { findPolicy, snapshots: true });
  await learner.open();
  while (await learner.advance());
  const replayed = new History(store, "auto", { findPolicy, snapshots: false });
  await replayed.replay();
  expect(replayed.fold.counts.votes).toBe(votes.length);
  expect(learner.fold.hash()).toBe(replayed.fold.hash());
  for (const { served } of nodes) {
    if (!served) continue;
    await replayed.replay(served.version);
    expect(served.hash).toBe(replayed.fold.hash());
  }
}
