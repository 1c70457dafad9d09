import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, request } from "undici";
import { startJoust, withServers } from "../gateway-servers.ts";

/**
 * Memory, time and failures of a gateway with many streams at the same time, each with a chunk
 * every few seconds.
 */
export interface StreamCost {
  readonly streams: number;
  readonly failed: number;
  /** Megabytes of the gateway before the first stream and with all of them, and kilobytes per stream. */
  readonly idleMb: number;
  readonly openMb: number;
  readonly perStreamKb: number;
  /** Processor milliseconds per chunk. */
  readonly cpuMsPerChunk: number;
}

const CHUNKS = 5;

/** Opens streams whose chunks come every `pace` milliseconds, and reads all of them to the end. */
export async function streamCost(streams: number, pace: number): Promise<StreamCost> {
  const upstream = createServer((incoming, response) => {
    incoming.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    let sent = 0;
    const timer = setInterval(() => {
      const finish = ++sent === CHUNKS ? "stop" : null;
      const delta = { content: " word" };
      response.write(
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      );
      if (sent < CHUNKS) return;
      clearInterval(timer);
      response.end("data: [DONE]\n\n");
    }, pace);
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  const agent = new Agent({
    connections: streams,
    pipelining: 1,
    bodyTimeout: 0,
    headersTimeout: 0,
  });
  const yaml = `server: {concurrent: ${2 * streams}, connections: ${2 * streams}, connections_per_address: ${2 * streams}}
providers: {mock: {url: "http://127.0.0.1:${port}/v1", key: none}}
models: {a: {provider: mock, model: m, price: {input: 1, output: 1}}, b: {provider: mock, model: m, price: {input: 2, output: 2}}}
`;
  return withServers(async (folder, servers) => {
    const joust = await startJoust(yaml, folder);
    servers.push(joust);
    const [idleMb, cpu] = [await joust.memory(), await joust.cpuSeconds()];
    let failed = 0;
    let chunks = 0;
    let openMb = 0;
    const body = JSON.stringify({
      model: "auto",
      stream: true,
      messages: [{ role: "user", content: "Why is the sky blue?" }],
    });
    const one = async () => {
      try {
        const { statusCode, body: answer } = await request(`${joust.origin}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
          dispatcher: agent,
        });
        const text = await answer.text();
        if (statusCode !== 200 || !text.includes("[DONE]")) failed++;
        else chunks += CHUNKS;
      } catch {
        failed++;
      }
    };
    const all = Promise.all(Array.from({ length: streams }, one));
    const watch = setInterval(async () => {
      openMb = Math.max(openMb, await joust.memory());
    }, 1000);
    await all;
    clearInterval(watch);
    const used = (await joust.cpuSeconds()) - cpu;
    return {
      streams,
      failed,
      idleMb,
      openMb,
      perStreamKb: (1000 * (openMb - idleMb)) / streams,
      cpuMsPerChunk: (1000 * used) / chunks,
    };
  }).finally(async () => {
    await agent.destroy();
    upstream.closeAllConnections();
    upstream.close();
  });
}
