import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import type { Logged, Voted } from "../../store/events.ts";
import { startGateway } from "../gateway.fixture.ts";

/** An upstream whose model `good` calls the tool `search` and whose model `bad` calls `erase`. Its judge prefers `search`. */
async function startModels() {
  const judged: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const piece of request) chunks.push(piece);
    const { model, messages, stream } = JSON.parse(Buffer.concat(chunks).toString());
    const isJudge = model === "judge";
    const last = String(messages.at(-1).content);
    if (isJudge) judged.push(last);
    const verdict = /<answer_a>\s*calls search/.test(last) ? "A" : "B";
    const name = model === "good" ? "search" : "erase";
    const call = { id: "c", type: "function", function: { name, arguments: '{"q":"ship"}' } };
    const message = isJudge
      ? { role: "assistant", content: verdict }
      : { role: "assistant", content: null, tool_calls: [{ index: 0, ...call }] };
    const finish_reason = isJudge ? "stop" : "tool_calls";
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    response.setHeader("content-type", stream ? "text/event-stream" : "application/json");
    const events = [
      { id: "1", model, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { id: "1", model, choices: [{ index: 0, delta: {}, finish_reason }] },
    ];
    response.end(
      stream
        ? `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")}data: [DONE]\n\n`
        : JSON.stringify({
            id: "1",
            model,
            choices: [{ index: 0, finish_reason, message }],
            usage,
          }),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, judged };
}

const SCHEMA = { type: "object", properties: { q: { type: "string" } } };
const FUNCTIONS = ["search", "erase"].map((name) => ({
  type: "function",
  function: { name, parameters: SCHEMA },
}));
const MESSAGES_TOOLS = ["search", "erase"].map((name) => ({ name, input_schema: SCHEMA }));
const user = { role: "user", content: "find the ship" };
const CHAT = { model: "auto", messages: [user], tools: FUNCTIONS };

async function start(judge: string) {
  const { url, judged } = await startModels();
  const gateway = await startGateway(`
providers: {p: {url: "${url}"}}
models: {bad: {provider: p}, good: {provider: p}, judge: {provider: p}}
routers: {auto: {models: [bad, good], explore: 0, judge: ${judge}}}`);
  const votes = async () =>
    (await gateway.store.logEvents("auto", 0, 100)).filter(
      (event): event is Logged<Voted> => event.kind === "voted",
    );
  return { ...gateway, judged, votes };
}

it.each([
  ["/v1/chat/completions", CHAT],
  ["/v1/chat/completions", { ...CHAT, stream: true }],
  ["/v1/messages", { model: "auto", messages: [user], tools: MESSAGES_TOOLS, max_tokens: 99 }],
])("a judge compares the steps of agents in %s, and the router learns", async (path, body) => {
  const { post, judged, votes, get } = await start("{model: judge, share: 1, tools: true}");
  expect((await post(path, body)).status).toBe(200);
  await expect.poll(votes).toHaveLength(1);
  const [vote] = await votes();
  expect(vote).toMatchObject({ voter: "judge:judge:tools", source: "judge" });
  expect(vote!.verdict).toEqual({ outcome: vote!.models[0] === "good" ? "a" : "b" });
  // The judge sees the conversation, the tools and both calls.
  expect(judged).toHaveLength(1);
  for (const shown of [
    "user: find the ship",
    "tools: search, erase",
    'calls search {"q":"ship"}',
  ]) {
    expect(judged[0]).toContain(shown);
  }
  const kinds = async () => (await get("/v1/stats")).json.voters;
  await expect.poll(kinds).toMatchObject([{ kind: "judge:judge:tools", votes: 1 }]);
});

it("a judge leaves requests with tools alone unless it is told to compare them", async () => {
  const { post, votes, judged } = await start("{model: judge, share: 1}");
  await post("/v1/chat/completions", CHAT);
  // The judge votes on the second request, so it has passed over the first by then.
  await post("/v1/chat/completions", { model: "auto", messages: [user] });
  await expect.poll(votes).toHaveLength(1);
  expect(await votes()).toMatchObject([{ voter: "judge:judge" }]);
  expect(judged).toHaveLength(1);
});
