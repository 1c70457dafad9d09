import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startPostgres } from "../../src/store/postgres/server.fixture.ts";
import { inFolder, startGateway, withGateway } from "../gateway-process.ts";
import { post } from "../http.ts";
import { type Attack, bearer, chat, hold, KEY, rawChat, releaseAll } from "./attack.ts";
import { type FaultyUpstream, withFaultyUpstream } from "./faulty-upstream.ts";

export const BUDGET_ATTACKS: readonly Attack[] = [
  {
    item: "4",
    attack: "200 requests of 2 dollars at a time, budget of 1 dollar",
    before: "200 answered",
    run: () =>
      withFaultyUpstream((upstream) =>
        withGateway(yamlOf(upstream, 1), ({ url }) => spend([url], 1)),
      ),
  },
  {
    item: "4",
    attack: "the same on two nodes, budget of 10 dollars",
    before: "sums of other nodes 30 s old",
    run: () => withFaultyUpstream(onTwoNodes),
  },
  {
    item: "4",
    attack: "a model without a price, key with a budget",
    before: "free",
    run: () => withFaultyUpstream((upstream) => withGateway(yamlOf(upstream, 1), unpriced)),
  },
  {
    item: "4",
    attack: "50 requests at a time, limit of 10 for the key",
    before: "no limit",
    run: () =>
      withFaultyUpstream((upstream) =>
        withGateway(yamlOf(upstream, undefined, "concurrent: 10"), concurrent),
      ),
  },
];

/** The answer of the model "dear" has two tokens of one dollar each. */
function yamlOf(upstream: FaultyUpstream, budget: number | undefined, more = ""): string {
  const limits = [...(budget === undefined ? [] : [`budget: ${budget}`]), more].filter(Boolean);
  return `keys: {mallory: {key: ${KEY}, ${limits.join(", ")}}}
providers: {well: {url: "${upstream.url("well")}"}, hang: {url: "${upstream.url("hang")}"}}
models:
  dear: {provider: well, price: {input: 0, output: 1000000}}
  free: {provider: well}
  slow: {provider: hang, price: {input: 0, output: 0}}
routers: {auto: {models: [dear]}}`;
}

/** Sends 200 requests at a time to the nodes and counts the answers. One more per node than the budget allows may be answered. */
async function spend(urls: readonly string[], budget: number) {
  const requests = Array.from({ length: 200 }, (_, i) =>
    post(
      `${urls[i % urls.length]}/v1/chat/completions`,
      chat(`hi ${i}`, { max_tokens: 2 }),
      bearer(KEY),
    ),
  );
  const statuses = (await Promise.all(requests)).map(({ status }) => status);
  const answered = statuses.filter((status) => status === 200).length;
  return {
    now: `${answered} answered, ${2 * answered} dollars; others ${[...new Set(statuses.filter((status) => status !== 200))].join(", ")}`,
    held: 2 * answered <= budget + 2 * urls.length,
  };
}

function onTwoNodes(upstream: FaultyUpstream) {
  return inFolder(async (folder) => {
    const server = await startPostgres();
    if (typeof server === "string") throw new Error(server);
    const url = await server.newDatabase();
    const yaml = `${yamlOf(upstream, 10)}\nstore: {url: "${url}"}`;
    const nodes = [];
    try {
      for (const name of ["a", "b"]) {
        const own = join(folder, name);
        await mkdir(own);
        await writeFile(join(own, "joust.yaml"), yaml);
        nodes.push(await startGateway(own));
      }
      return await spend(
        nodes.map((node) => node.url),
        10,
      );
    } finally {
      for (const node of nodes) await node.end("SIGKILL");
      await server.stop();
    }
  });
}

async function unpriced({ url }: { readonly url: string }) {
  const request = chat("hi", { model: "free" });
  const { status, text } = await post(`${url}/v1/chat/completions`, request, bearer(KEY));
  return { now: `${status} ${JSON.parse(text).error?.code}`, held: status === 403 };
}

async function concurrent({ url }: { readonly url: string }) {
  const request = rawChat(chat("hi", { model: "slow" }), KEY);
  const sockets = await Promise.all(Array.from({ length: 10 }, () => hold(url, request)));
  const more = Array.from({ length: 40 }, () =>
    post(`${url}/v1/chat/completions`, chat("hi"), bearer(KEY)),
  );
  const statuses = (await Promise.all(more)).map(({ status }) => status);
  releaseAll(sockets);
  const refused = statuses.filter((status) => status === 429).length;
  return { now: `10 running, ${refused} of 40 others refused with 429`, held: refused === 40 };
}
