import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Random } from "../src/core/random/random.ts";
import type { BenchFlags, BenchResult } from "./main.ts";
import { MAIN, serve } from "./served.ts";

const KILLS = 200;
const CLIENTS = 4;

/**
 * kill -9 of the gateway at random moments under load, again and again on the
 * same log. Every vote that was acknowledged must be in it, once, and the log's
 * fold must be the posterior that was served.
 */
export async function faults(_: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const kills = flags.kills ?? KILLS;
  const folder = await mkdtemp(join(tmpdir(), "joust-faults-"));
  await writeFile(join(folder, "joust.yaml"), "sandbox: {speed: 1000}\n");
  const random = Random.seeded(1);
  const acknowledged = new Set<string>();
  for (let life = 1; life <= kills; life++) {
    const gateway = await serve(folder);
    const clients = Array.from({ length: CLIENTS }, (_, c) =>
      voteUntilDead(gateway.url, `${life} ${c}`, acknowledged),
    );
    // It starts slowly where the machine is busy: the load is there when the first vote is.
    const before = acknowledged.size;
    for (let waited = 0; acknowledged.size === before && waited < 600; waited++) await sleep(50);
    await sleep(random.integer(400));
    await gateway.end("SIGKILL");
    await Promise.all(clients);
    if (life % 10 === 0) {
      process.stderr.write(`${life} of ${kills} kills, ${acknowledged.size} votes\n`);
    }
  }
  const found = await judge(folder, acknowledged);
  if (found.lost + found.doubled > 0 || !found.matches) {
    throw new Error(`${JSON.stringify(found)}: the log is in ${folder}`);
  }
  const figures = {
    kills,
    "votes acknowledged": acknowledged.size,
    "votes logged": found.logged,
  };
  await rm(folder, { recursive: true });
  return { ratios: { "votes lost": found.lost, "votes counted twice": found.doubled }, figures };
}

/** Asks for two answers and votes, until nobody answers any more. */
async function voteUntilDead(url: string, name: string, acknowledged: Set<string>): Promise<void> {
  const post = (path: string, body: object) =>
    fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
  for (let i = 0; ; i++) {
    try {
      const messages = [{ role: "user", content: `Question ${name} ${i}` }];
      const duel = { model: "auto", joust: { duel: true }, messages };
      const { id } = (await (await post("/v1/chat/completions", duel)).json()) as { id: string };
      const vote = await post("/v1/feedback", { id, winner: i % 2 });
      if (vote.status === 200) acknowledged.add(id.slice("chatcmpl-".length));
    } catch {
      return;
    }
  }
}

/** What the log says of it, by the program's own means. */
async function judge(folder: string, acknowledged: ReadonlySet<string>) {
  // Once more, so that the learner takes up all there is and saves it.
  const last = await serve(folder);
  let lost = 0;
  let doubled = 0;
  for (const id of acknowledged) {
    const answer = await fetch(`${last.url}/v1/decisions/${id}`);
    const { votes = [] } = (await answer.json()) as { votes?: unknown[] };
    if (votes.length === 0) lost++;
    if (votes.length > 1) doubled++;
  }
  await last.end("SIGTERM");
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [MAIN, "replay", "--data", folder, "--json"],
    { maxBuffer: 2 ** 26 },
  );
  const { snapshot, votes } = JSON.parse(stdout) as {
    snapshot?: { matches: boolean };
    votes: { votes: number };
  };
  return { lost, doubled, logged: votes.votes, matches: snapshot?.matches === true };
}
