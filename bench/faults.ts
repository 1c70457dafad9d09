import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Random } from "../src/core/random/random.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { MAIN, startGateway } from "./gateway-process.ts";

const KILLS = 200;
const CLIENTS = 4;

/**
 * Kills the gateway with SIGKILL at random moments under load, always with the same log. Every
 * acknowledged vote must be in the log exactly once, and a replay of the log must give the
 * posterior that was served.
 */
export async function faults(_: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const kills = flags.kills ?? KILLS;
  const folder = await mkdtemp(join(tmpdir(), "joust-faults-"));
  await writeFile(join(folder, "joust.yaml"), "sandbox: {speed: 1000}\n");
  const random = Random.seeded(1);
  const acknowledged = new Set<string>();
  for (let life = 1; life <= kills; life++) {
    const gateway = await startGateway(folder);
    const clients = Array.from({ length: CLIENTS }, (_, c) =>
      voteUntilKilled(gateway.url, `${life} ${c}`, acknowledged),
    );
    // On a busy machine the gateway starts slowly, so the load begins with the first vote.
    const before = acknowledged.size;
    for (let waited = 0; acknowledged.size === before && waited < 600; waited++) await sleep(50);
    await sleep(random.integer(400));
    await gateway.end("SIGKILL");
    await Promise.all(clients);
    if (life % 10 === 0) {
      process.stderr.write(`${life} of ${kills} kills, ${acknowledged.size} votes\n`);
    }
  }
  const found = await checkLog(folder, acknowledged);
  if (found.lost + found.repeated > 0 || !found.matches) {
    throw new Error(
      `votes were lost or counted twice (${JSON.stringify(found)}); the log is in ${folder}`,
    );
  }
  const figures = {
    kills,
    "votes acknowledged": acknowledged.size,
    "votes logged": found.logged,
  };
  await rm(folder, { recursive: true });
  return { ratios: { "votes lost": found.lost, "votes counted twice": found.repeated }, figures };
}

/** Requests duels and votes on them until the gateway is killed. */
async function voteUntilKilled(
  url: string,
  name: string,
  acknowledged: Set<string>,
): Promise<void> {
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

/** Compares the log with the acknowledged votes, through the API and `joust replay`. */
async function checkLog(folder: string, acknowledged: ReadonlySet<string>) {
  // Starts the gateway once more, so that the learner reads the whole log and saves its posterior.
  const last = await startGateway(folder);
  let lost = 0;
  let repeated = 0;
  for (const id of acknowledged) {
    const answer = await fetch(`${last.url}/v1/decisions/${id}`);
    const { votes = [] } = (await answer.json()) as { votes?: unknown[] };
    if (votes.length === 0) lost++;
    if (votes.length > 1) repeated++;
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
  return { lost, repeated, logged: votes.votes, matches: snapshot?.matches === true };
}
