import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { LogEvent, Logged, Voted } from "../../store/events.ts";
import { startGateway } from "../gateway.fixture.ts";

/** An upstream that answers as the last message says: `say: TEXT`, `empty`, or else "an answer". */
async function startModels(): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const piece of request) chunks.push(piece);
    const { model, messages } = JSON.parse(Buffer.concat(chunks).toString());
    const last = String(messages.at(-1).content);
    const said = /^say: (.*)$/s.exec(last)?.[1] ?? (last === "empty" ? "" : "an answer");
    const message = { role: "assistant", content: said };
    const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
    const choices = [{ index: 0, finish_reason: "stop", message }];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: "1", model, choices, usage }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const ALL =
  "{regenerated: true, edited: true, rephrased: true, no_answer: true, schema_failed: true, tool_failed: true}";

async function start(signals: string) {
  const url = await startModels();
  const gateway = await startGateway(`
providers: {p: {url: "${url}"}}
models: {a: {provider: p}, b: {provider: p}}
routers: {auto: {models: [a, b], explore: 0, signals: ${signals}}}`);
  const votes = async () =>
    (await gateway.store.logEvents("auto", 0, 100)).filter(isVote).map((vote) => ({
      id: vote.decision,
      by: vote.voter,
      verdict: vote.verdict,
    }));
  return {
    ...gateway,
    /** Sends a conversation and returns the id of its decision. */
    ask: async (messages: readonly object[], more: object = {}) => {
      const body = { model: "auto", messages, ...more };
      const { status, json } = await gateway.post("/v1/chat/completions", body);
      expect(status).toBe(200);
      return json.joust.decision_id as string;
    },
    /** Waits until this many votes are logged, and returns all. */
    cast: async (count: number) => {
      await expect.poll(votes).toHaveLength(count);
      return votes();
    },
    votes,
  };
}

function isVote(event: Logged<LogEvent>): event is Logged<Voted> {
  return event.kind === "voted";
}

const user = (content: string) => ({ role: "user", content });
const answer = { role: "assistant", content: "an answer" };
const disliked = (id: string, name: string) => ({
  id,
  by: `signal:${name}`,
  verdict: { rating: -1, slot: 0 },
});
const liked = (id: string, name: string) => ({
  ...disliked(id, name),
  verdict: { rating: 1, slot: 0 },
});
const QUESTION = user("please explain how a large ship floats on water");
const NEXT = user("who painted the ceiling of the chapel in rome");

describe("implicit signals", () => {
  it("the answer to a conversation that is sent again is disliked; the next answer whose conversation goes on is liked", async () => {
    const { ask, cast } = await start(ALL);
    const first = await ask([QUESTION]);
    const second = await ask([QUESTION]);
    expect(await cast(1)).toEqual([disliked(first, "regenerated")]);
    const third = await ask([QUESTION, answer, NEXT]);
    expect(await cast(2)).toEqual([disliked(first, "regenerated"), liked(second, "regenerated")]);
    // No further like is owed.
    await ask([QUESTION, answer, NEXT, answer, user("what is the capital of this small country")]);
    await ask([QUESTION, answer, NEXT]);
    expect((await cast(2)).map(({ id }) => id)).not.toContain(third);
  });

  it("the answer to a last message that was changed is disliked", async () => {
    const { ask, cast } = await start(ALL);
    await ask([QUESTION]);
    const before = await ask([QUESTION, answer, NEXT]);
    await ask([QUESTION, answer, user("who painted the walls of the palace in vienna")]);
    expect(await cast(1)).toEqual([disliked(before, "edited")]);
  });

  it("instructions that conversations share do not make them one", async () => {
    const { ask, votes } = await start(ALL);
    const system = { role: "system", content: "You are helpful." };
    await ask([system, QUESTION]);
    await ask([system, NEXT]);
    expect(await votes()).toEqual([]);
  });

  it("the answer to a question that is repeated in other words is disliked", async () => {
    const { ask, cast } = await start(ALL);
    const first = await ask([QUESTION]);
    await ask([QUESTION, answer, user("explain please how on water a large ship floats")]);
    expect(await cast(1)).toEqual([disliked(first, "rephrased")]);
  });

  it("an empty answer is disliked, and the next one that is not empty is liked", async () => {
    const { ask, cast } = await start(ALL);
    const empty = await ask([user("empty")]);
    const full = await ask([NEXT]);
    expect(await cast(2)).toEqual([disliked(empty, "no_answer"), liked(full, "no_answer")]);
  });

  it("an answer that does not fit the requested schema is disliked", async () => {
    const { ask, cast } = await start(ALL);
    const schema = {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    };
    const json = { response_format: { type: "json_schema", json_schema: { name: "n", schema } } };
    const notJson = await ask([user("say: n is 3")], json);
    const wrong = await ask([user('say: {"n": "three"}')], json);
    const right = await ask([user('say: {"n": 3}')], json);
    expect(await cast(3)).toEqual([
      disliked(notJson, "schema_failed"),
      disliked(wrong, "schema_failed"),
      liked(right, "schema_failed"),
    ]);
  });

  it("the answer that called a tool is disliked if the tool fails", async () => {
    const { ask, cast } = await start(ALL);
    const tools = {
      tools: [{ type: "function", function: { name: "run", parameters: { type: "object" } } }],
    };
    const call = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", type: "function", function: { name: "run", arguments: "{}" } }],
    };
    const result = (content: string) => ({ role: "tool", tool_call_id: "1", content });
    const failed = await ask([QUESTION], tools);
    const worked = await ask([QUESTION, call, result("Error: no such file")], tools);
    expect(await cast(1)).toEqual([disliked(failed, "tool_failed")]);
    await ask([QUESTION, call, result("Error: no such file"), call, result("done")], tools);
    expect(await cast(2)).toContainEqual(liked(worked, "tool_failed"));
  });

  it("are off by default, and each has its own switch", async () => {
    const off = await start("{}");
    await off.ask([QUESTION]);
    await off.ask([QUESTION]);
    await off.ask([user("empty")]);
    expect(await off.votes()).toEqual([]);
    const one = await start("{no_answer: true}");
    await one.ask([QUESTION]);
    await one.ask([QUESTION]);
    const empty = await one.ask([user("empty")]);
    expect(await one.cast(1)).toEqual([disliked(empty, "no_answer")]);
  });

  it("are learned as kinds of voters, do not count as votes, and leave the ballot to people", async () => {
    const { ask, cast, post, get } = await start(ALL);
    const id = await ask([user("empty")]);
    await cast(1);
    expect((await post("/v1/feedback", { id, rating: 1 })).json.status).toBe("logged");
    const kinds = async () => (await get("/v1/stats")).json.voters;
    await expect.poll(kinds).toMatchObject([{ kind: "signal:no_answer", votes: 1, length: null }]);
    expect((await get("/v1/stats")).json.counts).toMatchObject({ votes: 1, ratings: 1 });
    const refused = await post("/v1/feedback", { id, rating: 1, voter: "signal:no_answer" });
    expect(refused.json.error).toMatchObject({ code: "invalid_value", param: "voter" });
  });

  it("store nothing of the conversation", async () => {
    const { ask, cast, store } = await start(ALL);
    await ask([QUESTION]);
    await ask([QUESTION]);
    await cast(1);
    const [vote] = (await store.logEvents("auto", 0, 100)).filter(isVote);
    expect(JSON.stringify({ ...vote, x: undefined })).not.toContain("ship");
  });
});
