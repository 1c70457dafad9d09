import { describe, expect, it } from "vitest";
import { SANDBOX, sharedGateway } from "../gateway/gateway.fixture.ts";
import { JoustClient } from "./client.ts";
import { ApiError, ConnectionError } from "./error.ts";

const gateway = sharedGateway(
  () => `${SANDBOX}
routers: {auto: {}, pair: {duels: {mode: true, share: 1, spend: 1}}}
keys: {boss: {key: adm-adm-adm-adm-adm, scopes: [admin]}}`,
);
// The client accepts an address with or without a slash at its end.
const open = () => new JoustClient({ baseUrl: `${gateway().url}/`, apiKey: "adm-adm-adm-adm-adm" });
const duelOf = (content: string) => ({
  model: "auto",
  messages: [{ role: "user", content }],
  joust: { duel: true },
});

it("answers, votes and shows the decision", async () => {
  const joust = open();
  const { id, choices, joust: note } = await joust.chat(duelOf("Why is the sky blue?"));
  expect([choices.length, note?.duel]).toEqual([2, true]);
  expect(await joust.vote({ id, winner: 0, voter: "ann" })).toMatchObject({ status: "logged" });
  const decision = await joust.decision(note!.decision_id);
  expect(decision.votes).toMatchObject([{ outcome: "a", source: "user" }]);
  expect((await joust.decisions({ router: "auto", limit: 1 })).data).toEqual([
    expect.objectContaining({ id: note!.decision_id }),
  ]);
});

it("votes by an id of its own and on the last answer of a session, and fetches second answers", async () => {
  const joust = open();
  const ask = (content: string, options: object) =>
    joust.chat({ model: "pair", messages: [{ role: "user", content }], joust: options });
  const first = await ask("Why is the sky blue?", { id: "client 1" });
  expect(first.joust).toMatchObject({ id: "client 1", duel: "later" });
  const second = await joust.secondAnswer("client 1");
  expect(second.choices[0]!.message.content).not.toBe(first.choices[0]!.message.content);
  const anonymous = new JoustClient({ baseUrl: gateway().url });
  const voteToken = first.joust!.vote_token;
  expect(await anonymous.secondAnswer(first.id, { voteToken })).toEqual(second);
  await expect(anonymous.secondAnswer(first.id)).rejects.toMatchObject({ status: 401 });
  expect(await joust.castVote({ id: "client 1", winner: 1 })).toMatchObject({ status: "logged" });
  await expect(ask("Again?", { id: "client 1" })).rejects.toMatchObject({ code: "id_in_use" });
  await ask("One?", { session_id: "s1", duel: false });
  const last = await ask("Two?", { session_id: "s1", duel: false });
  const receipt = await joust.voteOnLast("s1", { rating: 1 });
  expect(receipt.id).toBe(last.joust!.decision_id);
});

it("streams chunks and events", async () => {
  const joust = open();
  const opened = Promise.withResolvers<void>();
  const votes = (async () => {
    for await (const { type, data } of joust.events({ onOpen: opened.resolve })) {
      if (type === "vote") return data;
    }
    return undefined;
  })();
  await opened.promise;
  const texts = ["", ""];
  let id = "";
  for await (const { joust: note, choices = [] } of joust.stream(duelOf("Why?"))) {
    id = note?.decision_id ?? id;
    for (const { index, delta } of choices) texts[index] += delta?.content ?? "";
  }
  expect(texts).toEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
  await joust.castVote({ id, winner: "tie" });
  expect(await votes).toMatchObject({ id, outcome: "tie" });
});

it("calls every other endpoint", async () => {
  const joust = open();
  const request = { model: "auto", messages: [{ role: "user", content: "Why?" }] };
  expect(await joust.route(request)).toMatchObject({ object: "decision", router: "auto" });
  expect((await joust.models()).data.map(({ id }) => id)).toContain("auto");
  expect(await joust.model("abacus-14b")).toMatchObject({ owned_by: "sandbox" });
  expect(await joust.stats({ router: "auto", hours: 2 })).toMatchObject({ object: "stats" });
  expect(await joust.tradeoff()).toMatchObject({ object: "tradeoff" });
  expect(await joust.learning({ hours: 2 })).toMatchObject({ object: "learning" });
  expect(await joust.map({ limit: 3 })).toMatchObject({ object: "map" });
  expect((await joust.truth()).models).toHaveLength(5);
  expect(await joust.setVoters({ on: false })).toEqual(await joust.voters());
  expect(await joust.freeze("auto")).toEqual({ router: "auto", frozen: true });
  expect(await joust.thaw("auto", { learn: false })).toEqual({ router: "auto", frozen: false });
  expect(await joust.rollBack("auto", { to: "2026-01-01T00:00:00Z" })).toHaveProperty("undone");
  expect((await joust.addKey({ name: "bob/1" })).secret).toMatch(/^jst_/);
  expect(await joust.setBudget("bob/1", { budget: 3 })).toMatchObject({ budget: 3 });
  expect(await joust.setConcurrent("bob/1", { concurrent: 4 })).toMatchObject({
    budget: 3,
    concurrent: 4,
  });
  expect(await joust.revokeKey("bob/1")).toHaveProperty("revoked_at");
  expect((await joust.keys()).data).toHaveLength(1);
  await expect(joust.forget("auto", { voter: "nobody" })).rejects.toThrow(ApiError);
});

describe("errors", () => {
  it("carry status, code, parameter and hint", async () => {
    const errors: ApiError[] = [];
    const joust = new JoustClient({
      baseUrl: gateway().url,
      apiKey: () => "wrong",
      onError: (error) => void errors.push(error),
    });
    const refused = await joust.models().catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 401, code: "invalid_api_key", isTemporary: false });
    expect((refused as ApiError).message).toContain((refused as ApiError).hint);
    expect(errors).toEqual([refused]);
    await expect(open().chat({ ...duelOf("hi"), model: "gpt-77" })).rejects.toMatchObject({
      status: 404,
      param: "model",
    });
  });

  it("distinguish a gateway that does not respond from a cancelled call", async () => {
    const lost = new JoustClient({ baseUrl: "http://127.0.0.1:1" });
    const error = await lost.models().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).message).toBe("the gateway at http://127.0.0.1:1 does not respond");
    const signal = AbortSignal.abort();
    await expect(open().models({ signal })).rejects.toThrow(
      expect.objectContaining({ name: "AbortError" }),
    );
  });

  it("are thrown for an error event of a stream, and for a stream that ends early", async () => {
    const answer = (text: string) =>
      new JoustClient({ baseUrl: "", fetch: async () => new Response(text) });
    const read = async (client: JoustClient) => {
      for await (const _ of client.stream(duelOf("hi")));
    };
    await expect(read(answer('data: {"error":{"message":"x"}}\n\n'))).rejects.toThrow(ApiError);
    await expect(read(answer('data: {"id":"x"}\n\n'))).rejects.toThrow(ConnectionError);
    await expect(read(answer('data: {"id":"x"}\n\ndata: [DONE]\n\n'))).resolves.toBeUndefined();
  });

  it("that are temporary do not end castVote", async () => {
    const statuses = [503, 200];
    const joust = new JoustClient({
      baseUrl: "",
      fetch: async () => {
        const headers = { "retry-after": "0" };
        return Response.json({ status: "logged" }, { status: statuses.shift()!, headers });
      },
    });
    const retries: string[] = [];
    const onRetry = ({ message }: Error) => void retries.push(message);
    expect(await joust.castVote({ id: "x", winner: 0 }, { onRetry })).toEqual({ status: "logged" });
    expect(retries).toEqual(["the gateway responded with status 503"]);
  });

  it("that are temporary do not delay castVote after the caller has cancelled it", async () => {
    const controller = new AbortController();
    const headers = { "retry-after": "3600" };
    const fetch = async () => new Response("", { status: 503, headers });
    const joust = new JoustClient({ baseUrl: "", fetch });
    const vote = joust.castVote(
      { id: "x", winner: 0 },
      { signal: controller.signal, onRetry: () => queueMicrotask(() => controller.abort()) },
    );
    await expect(vote).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));
  });

  it("of the caller end castVote, and a response that ends early does not", async () => {
    const invalid = new JoustClient({ baseUrl: "http://127.0.0.1:1", apiKey: "line\nbreak" });
    await expect(invalid.castVote({ id: "x", winner: 0 })).rejects.toThrow(TypeError);
    const texts = ['{"status":', '{"status": "logged"}'];
    const fetch = async () => new Response(texts.shift()!);
    const joust = new JoustClient({ baseUrl: "", fetch });
    const retries: Error[] = [];
    const onRetry = (error: Error) => void retries.push(error);
    expect(await joust.castVote({ id: "x", winner: 0 }, { onRetry })).toEqual({ status: "logged" });
    expect(retries).toEqual([expect.any(ConnectionError)]);
  });
});
