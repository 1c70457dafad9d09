import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inPages } from "../../src/learner/pages.ts";
import type { Voted } from "../../src/store/events.ts";
import { startPostgres } from "../../src/store/postgres/server.fixture.ts";
import { openSqlite } from "../../src/store/sqlite/open.ts";
import { Network } from "../faults/network.ts";
import { type GatewayProcess, inFolder, startGateway, withGateway } from "../gateway-process.ts";
import { post, send } from "../http.ts";
import {
  ADMIN,
  type Attack,
  bearer,
  chat,
  duelOn,
  KEY,
  KEYS,
  milliseconds,
  OTHER_KEY,
  SANDBOX,
} from "./attack.ts";

export const VOTE_ATTACKS: readonly Attack[] = [
  {
    item: "5",
    attack: "300 invented voters of one key on one decision",
    before: "300 votes counted; worst model from 0.13 to 0.51, it got all test prompts",
    run: () => withGateway(`${SANDBOX}\n${KEYS}\nrouters: {auto: {explore: 0}}`, inventedVoters),
  },
  {
    item: "5",
    attack: "votes in the name of another key's voter and of a judge",
    before: "accepted under that name",
    run: () => withGateway(`${SANDBOX}\n${KEYS}`, foreignNames),
  },
  {
    item: "5",
    attack: "200 votes by token without a key from one address",
    before: "no limit",
    run: () => withGateway(`${SANDBOX}\n${KEYS}`, manyTokens),
  },
  {
    item: "10",
    attack: "votes on 100 decisions of a node that is cut off from the database",
    before: "457 with 404, or 5 to 12 s",
    run: cutOff,
  },
  {
    item: "10",
    attack: "votes on 100 decisions after the node was killed at once",
    before: "79 decisions could never be voted on",
    run: killed,
  },
];

const duel = (url: string, key?: string, options?: object) =>
  duelOn(url, "Why is the sky blue?", { key, options });

/** All votes in the log of a gateway that has ended. */
async function votesIn(folder: string): Promise<Voted[]> {
  const store = await openSqlite(join(folder, "joust.db"));
  const votes: Voted[] = [];
  for await (const event of inPages((after, limit) => store.logEvents("auto", after, limit))) {
    if (event.kind === "voted") votes.push(event);
  }
  await store.close();
  return votes;
}

async function inventedVoters(gateway: GatewayProcess, folder: string) {
  const { url } = gateway;
  const stats = async () => JSON.parse((await send(`${url}/v1/stats`, { headers: ADMIN })).text);
  /** Share of 30 prompts that are routed to a model. */
  const shareOf = async (model: string) => {
    let count = 0;
    for (let i = 0; i < 30; i++) {
      const body = chat(`Test prompt ${i}: explain topic ${i * 7} in a few words.`);
      const { text } = await post(`${url}/v1/route`, body, bearer(KEY));
      if (JSON.parse(text).model === model) count++;
    }
    return count / 30;
  };
  // Some hundred honest votes come first: three votes may well decide if there are no others.
  const voters = `${url}/v1/sandbox/voters`;
  await post(voters, { on: true, votes_per_minute: 6000 }, ADMIN);
  const cast = async () => JSON.parse((await send(voters, { headers: ADMIN })).text).cast;
  while ((await cast()) < 300) await sleep(200);
  await post(voters, { on: false }, ADMIN);
  await settled(stats);
  const { overall } = (await stats()).leaderboard;
  const worst: string[] = overall.slice(-2).map(({ model }: { model: string }) => model);
  const before = new Map<string, number>();
  for (const model of worst) before.set(model, await shareOf(model));
  const { id } = await duel(url, KEY, { allowed_models: worst });
  let promoted = "";
  let accepted = 0;
  for (let i = 0; i < 300; i++) {
    const vote = { id, winner: 0, voter: `invented-${i}` };
    const { status, text } = await post(`${url}/v1/feedback`, vote, bearer(KEY));
    if (status !== 200) continue;
    accepted++;
    promoted = JSON.parse(text).models[0];
  }
  await settled(stats);
  const after = await shareOf(promoted);
  await gateway.end("SIGTERM");
  const votes = (await votesIn(folder)).filter(({ decision }) => decision === id);
  const weight = votes.reduce((sum, vote) => sum + vote.weight, 0);
  return {
    now: `${accepted} logged, ${weight} counted; share of prompts for the promoted model ${before.get(promoted)?.toFixed(2)} to ${after.toFixed(2)}`,
    held: weight <= 3 && after - before.get(promoted)! < 0.2,
  };
}

/** Waits until the posterior does not change any more. */
async function settled(stats: () => Promise<{ posterior_version: number }>): Promise<void> {
  for (let last = -1; ; ) {
    const { posterior_version: version } = await stats();
    if (version === last) return;
    last = version;
    await sleep(3000);
  }
}

async function foreignNames(gateway: GatewayProcess, folder: string) {
  const { url } = gateway;
  const names = ["config:another/ann", "judge:good", "judge:gpt-4", "another/ann"];
  for (const voter of names) {
    const { id } = await duel(url, KEY);
    await post(`${url}/v1/feedback`, { id, winner: 0, voter }, bearer(KEY));
  }
  const own = await duel(url, OTHER_KEY);
  const foreign = await post(`${url}/v1/feedback`, { id: own.id, winner: 0 }, bearer(KEY));
  await gateway.end("SIGTERM");
  const votes = await votesIn(folder);
  const voters = votes.map(({ voter }) => voter);
  const isOwn = votes.every(
    ({ voter, source }) => voter.startsWith("config:mallory/") && source === "user",
  );
  return {
    now: `logged as ${[...new Set(voters.map((voter) => voter.split("/")[0]))].join(", ")}/...; vote on another key's decision: ${foreign.status}`,
    held: isOwn && foreign.status !== 200,
  };
}

async function manyTokens({ url }: GatewayProcess) {
  const statuses: number[] = [];
  for (let i = 0; i < 200; i++) {
    const { id, token } = i < 5 ? await duel(url, KEY) : { id: "x", token: "y" };
    const reply = await post(`${url}/v1/feedback`, { id, winner: 0, vote_token: token });
    statuses.push(reply.status);
  }
  const refused = statuses.filter((status) => status === 429).length;
  const accepted = statuses.filter((status) => status === 200).length;
  return {
    now: `${accepted} of 5 valid ones accepted; ${refused} of 200 refused with 429`,
    held: accepted === 5 && refused >= 60,
  };
}

function cutOff() {
  return inFolder(async (folder) => {
    const server = await startPostgres();
    if (typeof server === "string") throw new Error(server);
    const url = new URL(await server.newDatabase());
    const networks = [await Network.start(server.port), await Network.start(server.port)];
    const nodes: GatewayProcess[] = [];
    try {
      for (const [i, network] of networks.entries()) {
        url.port = String(network.port);
        const own = join(folder, String(i));
        await mkdir(own);
        await writeFile(join(own, "joust.yaml"), `${SANDBOX}\nstore: {url: "${url.href}"}`);
        nodes.push(await startGateway(own));
      }
      const [cut, other] = nodes as [GatewayProcess, GatewayProcess];
      networks[0]!.cut("silent");
      const duels = await Promise.all(Array.from({ length: 100 }, () => duel(cut.url)));
      const times: number[] = [];
      const refused = await Promise.all(
        duels.slice(0, 20).map(async ({ id, token }) => {
          const startedAt = performance.now();
          const vote = { id, winner: 0, vote_token: token };
          const { status } = await post(`${cut.url}/v1/feedback`, vote);
          times.push(performance.now() - startedAt);
          return status;
        }),
      );
      const accepted = await Promise.all(
        duels.map(async ({ id, token }) => {
          const vote = { id, winner: 0, vote_token: token };
          const deadline = performance.now() + 30_000;
          for (;;) {
            const { status } = await post(`${other.url}/v1/feedback`, vote);
            // 503 asks the client to try again, for example while the machine is busy.
            if (status !== 503 || performance.now() > deadline) return status;
            await sleep(500);
          }
        }),
      );
      const good = accepted.filter((status) => status === 200).length;
      const slowest = Math.max(...times);
      return {
        now: `${good} of 100 accepted by another node; the cut-off node answers ${[...new Set(refused)].join(", ")} within ${milliseconds(slowest)}`,
        held: good === 100 && refused.every((status) => status === 503) && slowest < 5000,
      };
    } finally {
      for (const node of nodes) await node.end("SIGKILL");
      for (const network of networks) await network.stop();
      await server.stop();
    }
  });
}

function killed() {
  return inFolder(async (folder) => {
    await writeFile(join(folder, "joust.yaml"), SANDBOX);
    const first = await startGateway(folder);
    const duels = await Promise.all(Array.from({ length: 100 }, () => duel(first.url)));
    await first.end("SIGKILL");
    const second = await startGateway(folder);
    const statuses = await Promise.all(
      duels.map(async ({ id, token }) => {
        const vote = { id, winner: 0, vote_token: token };
        return (await post(`${second.url}/v1/feedback`, vote)).status;
      }),
    );
    await second.end("SIGKILL");
    const accepted = statuses.filter((status) => status === 200).length;
    return { now: `${accepted} of 100 accepted after the restart`, held: accepted === 100 };
  });
}
