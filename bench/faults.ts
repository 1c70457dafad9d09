import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Random } from "../src/core/random/random.ts";
import { inPages } from "../src/learner/pages.ts";
import { openSqlite } from "../src/store/sqlite/open.ts";
import type { BenchFlags, BenchResult } from "./bench.ts";
import { MAIN, startGateway } from "./gateway-process.ts";

const KILLS = 200;
const CLIENTS = 4;

/**
 * Kills the gateway with SIGKILL at random moments under load, always with the same log. Every
 * acknowledged vote must be in the log exactly once, every answer that carried a vote token can be
 * voted on after the kill, and a replay of the log must give the posterior that was served.
 */
export async function faults(_: readonly string[], flags: BenchFlags): Promise<BenchResult> {
  const kills = flags.kills ?? KILLS;
  const folder = await mkdtemp(join(tmpdir(), "joust-faults-"));
  await writeFile(join(folder, "joust.yaml"), "sandbox: {speed: 1000}\n");
  const random = Random.seeded(1);
  const acknowledged = new Set<string>();
  /** Vote tokens of answers, by decision, whose vote was not acknowledged before a kill. */
  const open = new Map<string, string>();
  let late = 0;
  for (let life = 1; life <= kills; life++) {
    const gateway = await startGateway(folder);
    late += await voteLate(gateway.url, open, acknowledged);
    const clients = Array.from({ length: CLIENTS }, (_, c) =>
      voteUntilKilled(gateway.url, `${life} ${c}`, acknowledged, open),
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
    "votes by token after a kill": late,
  };
  await rm(folder, { recursive: true });
  return { ratios: { "votes lost": found.lost, "votes counted twice": found.repeated }, figures };
}

/** Requests duels and votes on them until the gateway is killed. */
async function voteUntilKilled(
  url: string,
  name: string,
  acknowledged: Set<string>,
  open: Map<string, string>,
): Promise<void> {
  const post = (path: string, body: object) =>
    fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) });
  for (let i = 0; ; i++) {
    try {
      const messages = [{ role: "user", content: `Question ${name} ${i}` }];
      const duel = { model: "auto", joust: { duel: true }, messages };
      const { joust } = (await (await post("/v1/chat/completions", duel)).json()) as Answer;
      const { decision_id: id, vote_token: token } = joust;
      open.set(id, token);
      // Some answers are never voted on before the kill.
      if (i % 5 === 4) continue;
      const vote = await post("/v1/feedback", { id, winner: i % 2 });
      if (vote.status !== 200) continue;
      acknowledged.add(id);
      open.delete(id);
    } catch {
      return;
    }
  }
}

interface Answer {
  readonly joust: { readonly decision_id: string; readonly vote_token: string };
}

/** Casts the votes that were not acknowledged before the kill, by token. Returns their number. */
async function voteLate(
  url: string,
  open: Map<string, string>,
  acknowledged: Set<string>,
): Promise<number> {
  let count = 0;
  for (const [id, vote_token] of open) {
    const body = JSON.stringify({ id, winner: "tie", vote_token });
    const vote = await fetch(`${url}/v1/feedback`, { method: "POST", body });
    // 409: the vote from before the kill was stored, but not acknowledged.
    if (vote.status !== 200 && vote.status !== 409) {
      throw new Error(`a vote by token got ${vote.status}: ${await vote.text()}`);
    }
    acknowledged.add(id);
    count++;
  }
  open.clear();
  return count;
}

/** Compares the log with the acknowledged votes, and the replay with the saved posterior. */
async function checkLog(folder: string, acknowledged: ReadonlySet<string>) {
  // Starts the gateway once more, so that the learner reads the whole log and saves its posterior.
  const last = await startGateway(folder);
  await last.end("SIGTERM");
  const voted = await votesByDecision(join(folder, "joust.db"));
  let lost = 0;
  let repeated = 0;
  for (const id of acknowledged) {
    const votes = voted.get(id) ?? 0;
    if (votes === 0) lost++;
    if (votes > 1) repeated++;
  }
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

/** Number of votes on each decision. Decisions that a kill has lost have votes too. */
async function votesByDecision(file: string): Promise<Map<string, number>> {
  const store = await openSqlite(file);
  const counts = new Map<string, number>();
  for await (const event of inPages((after, limit) => store.learning("auto", after, limit))) {
    if (event.kind !== "voted") continue;
    counts.set(event.decision, (counts.get(event.decision) ?? 0) + 1);
  }
  await store.close();
  return counts;
}
