/** State that one process has and a request to another process needs. */
import { describe, expect, it, onTestFinished } from "vitest";
import { chat, SANDBOX, startFaultyUpstream, type TestGateway } from "../gateway.fixture.ts";
import { startTwoGateways } from "./two-gateways.fixture.ts";

const duel = (content: string, more: object = {}) =>
  chat(content, { joust: { duel: true, ...more } });

/** Reads the events of a gateway until the test ends. */
async function eventsOf({ url }: TestGateway, headers: Record<string, string> = {}) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${url}/v1/events`, { signal: stop.signal, headers });
  const read = { text: "" };
  const decoder = new TextDecoder();
  (async () => {
    for await (const piece of response.body!) read.text += decoder.decode(piece);
  })().catch(() => {});
  return read;
}

it("a DELETE with a content type or a body is answered, although the hub checks its rate first", async () => {
  const { a } = await startTwoGateways(
    `${SANDBOX}\nserver: {rate: 600}\nkeys: {k: {key: key-0123456789abc}}`,
  );
  // OpenAI's Python client sends a content type with every DELETE.
  const headers = {
    authorization: "Bearer key-0123456789abc",
    "content-type": "application/json",
  };
  for (const body of [null, "{}"]) {
    const url = `${a.url}/v1/responses/resp_none`;
    const { status } = await fetch(url, { method: "DELETE", headers, body });
    expect(status).toBe(404);
  }
});

describe("a decision of another process", () => {
  it("is found, shown, counted and voted on at once, by its id or by that of the client", async () => {
    const { a, b } = await startTwoGateways(SANDBOX);
    const { json: first } = await a.post("/v1/chat/completions", duel("one", { id: "mine" }));
    expect((await b.post("/v1/feedback", { id: first.id, winner: 0 })).json.status).toBe("logged");
    const { json: second } = await b.post("/v1/chat/completions", duel("two", { id: "other" }));
    expect((await a.get(`/v1/decisions/${second.joust.decision_id}`)).status).toBe(200);
    const named = await a.post("/v1/feedback", { id: "other", winner: 1 });
    expect(named.json.status).toBe("logged");
    await a.post("/v1/chat/completions", duel("three"));
    const [left, right] = [await a.get("/v1/stats"), await b.get("/v1/stats")];
    for (const { json } of [left, right]) {
      expect(json.counts).toMatchObject({ requests: 3, duels: 3, votes: 2 });
      expect(json.recent_queries).toBe(3);
    }
    expect((await b.get("/v1/decisions?limit=10")).json.data).toHaveLength(3);
    // An id names one request, whichever process gets it.
    const again = await b.post("/v1/chat/completions", duel("four", { id: "mine" }));
    expect(again.json.error.code).toBe("id_in_use");
    // A ballot is one vote in all processes.
    const repeated = await a.post("/v1/feedback", { id: first.id, winner: 0 });
    expect(repeated.json.status).toBe("repeated");
  });

  it("has its second answer in that process, and the other process can return it", async () => {
    const yaml = `${SANDBOX}\nrouters: {auto: {duels: {mode: true, share: 1, spend: 1}}}`;
    const { a, b } = await startTwoGateways(yaml);
    const { json } = await a.post("/v1/chat/completions", chat("Why?"));
    expect(json.joust.duel).toBe("later");
    const second = await b.get(`/v1/decisions/${json.id}/second`);
    expect(second.status).toBe(200);
    expect((await a.get(`/v1/decisions/${json.id}/second`)).text).toBe(second.text);
    const missing = await b.get("/v1/decisions/01890000-0000-7000-8000-000000000000/second");
    expect(missing.status).toBe(404);
  });

  it("is streamed to the pages of all processes, with its vote", async () => {
    const { a, b } = await startTwoGateways(SANDBOX);
    const [atA, atB] = await Promise.all([eventsOf(a), eventsOf(b)]);
    await expect.poll(() => atB.text).toContain("event: posterior");
    const { json: one } = await a.post("/v1/chat/completions", duel("one"));
    const { json: two } = await b.post("/v1/chat/completions", duel("two"));
    await b.post("/v1/feedback", { id: one.id, winner: 0 });
    for (const read of [atA, atB]) {
      await expect.poll(() => read.text).toContain("event: vote");
      await expect.poll(() => read.text).toContain(one.joust.decision_id);
      await expect.poll(() => read.text).toContain(two.joust.decision_id);
      expect(read.text.match(/event: vote\n/g)).toHaveLength(1);
    }
  });
});

describe("a conversation", () => {
  it("keeps its model in the other process, by its session and by its messages", async () => {
    // With this margin, a conversation that is recognised always keeps its model. The log does not
    // have the decisions, so that only the memory of the processes can tell.
    const { a, b } = await startTwoGateways(
      `${SANDBOX}\nrouters: {auto: {session_margin: 1}}\nstore: {sample: 1.0e-9}`,
    );
    for (const session of ["mine", undefined]) {
      const opening = [{ role: "user", content: `Session ${session}: why is the sky blue?` }];
      const joust = session === undefined ? {} : { joust: { session_id: session } };
      const body = { model: "auto", messages: opening, ...joust };
      const { json: first } = await a.post("/v1/chat/completions", body);
      // News may be late by a millisecond. They arrive before the answer to a question.
      await b.get("/v1/stats");
      const next = { role: "user", content: "And at night?" };
      const messages = [...opening, first.choices[0].message, next];
      const { json } = await b.post("/v1/route", { ...body, messages });
      expect(json.kept).toMatchObject({ model: first.model, because: "session" });
    }
  });

  it("continues from a stored response of the other process, even while it is being written", async () => {
    const { a, b, store } = await startTwoGateways(`${SANDBOX}\nstore: {prompts: true}`);
    const { json } = await a.post("/v1/responses", { model: "auto", input: "Why?" });
    expect((await b.get(`/v1/responses/${json.id}`)).json.id).toBe(json.id);
    // The next response is written only after the other process has not found it.
    const [save, read] = [store.saveResponses.bind(store), store.response.bind(store)];
    const missed = Promise.withResolvers<void>();
    store.saveResponses = async (response) => {
      await missed.promise;
      await save(response);
    };
    store.response = async (id) => {
      const found = await read(id);
      missed.resolve();
      return found;
    };
    const { json: late } = await a.post("/v1/responses", { model: "auto", input: "Why not?" });
    const next = { model: "auto", input: "And then?", previous_response_id: late.id };
    expect((await b.post("/v1/responses", next)).status).toBe(200);
  });
});

describe("the limits of a machine", () => {
  const key = (name: string) => ({ authorization: `Bearer ${name}-0123456789abc` });

  it("are shared: requests per minute", async () => {
    const { a, b } = await startTwoGateways(
      `${SANDBOX}\nkeys: {one: {key: one-0123456789abc, rate: 4}}`,
    );
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) {
      statuses.push((await (i % 2 ? a : b).get("/v1/models", key("one"))).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
  });

  it("are shared: requests at a time and event streams, and free again when others have ended", async () => {
    const host = await startFaultyUpstream();
    const { a, b } = await startTwoGateways(
      `keys: {one: {key: one-0123456789abc, concurrent: 3}}
providers: {hang: {url: "${host.url("hang")}"}, well: {url: "${host.url("well")}"}}
models: {hang: {provider: hang, timeout_seconds: 600}, well: {provider: well}}`,
    );
    const ask = ({ post }: TestGateway) =>
      post("/v1/chat/completions", chat("hi", { model: "well" }), key("one"));
    expect([(await ask(a)).status, (await ask(b)).status]).toEqual([200, 200]);
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    for (const { url } of [a, a, b]) {
      fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: key("one"),
        body: JSON.stringify(chat("hi", { model: "hang" })),
        signal: stop.signal,
      }).catch(() => {});
    }
    for (const gateway of [a, b]) {
      await expect.poll(async () => (await ask(gateway)).status).toBe(429);
      expect((await ask(gateway)).json.error.message).toBe("more than 3 requests at a time");
    }
    stop.abort();
    for (const gateway of [a, b]) {
      await expect.poll(async () => (await ask(gateway)).status).toBe(200);
    }
    const streams = new AbortController();
    onTestFinished(() => streams.abort());
    const responses = await Promise.all(
      Array.from({ length: 55 }, (_, i) =>
        fetch(`${(i % 2 ? a : b).url}/v1/events`, { signal: streams.signal, headers: key("one") }),
      ),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(50);
  });

  it("are shared: requests per minute of a deployment", async () => {
    const host = await startFaultyUpstream();
    const { a, b } = await startTwoGateways(
      `providers: {well: {url: "${host.url("well")}"}}
models: {well: {deployments: [{provider: well, rpm: 2}], retries: 0}}`,
    );
    const ask = async ({ post }: TestGateway) =>
      (await post("/v1/chat/completions", chat("hi", { model: "well" }))).status;
    expect([await ask(a), await ask(b)]).toEqual([200, 200]);
    await expect.poll(() => ask(a)).toBe(429);
    expect(await ask(b)).toBe(429);
  });

  it("are shared: the budget of a key", async () => {
    const host = await startFaultyUpstream();
    const { a, b } = await startTwoGateways(
      `keys: {one: {key: one-0123456789abc, budget: 0.01}}
providers: {well: {url: "${host.url("well")}"}}
models: {well: {provider: well, price: {input: 1000, output: 1000}}}`,
    );
    const ask = async ({ post }: TestGateway) =>
      (await post("/v1/chat/completions", chat("hi", { model: "well", max_tokens: 8 }), key("one")))
        .status;
    // The first answer uses up the budget.
    expect(await ask(a)).toBe(200);
    expect([await ask(b), await ask(a)]).toEqual([429, 429]);
  });
});

describe("one machine", () => {
  it("knows new and revoked keys in all processes when the change is acknowledged", async () => {
    const { a, b } = await startTwoGateways(SANDBOX);
    const made = await a.post("/v1/admin/keys", { name: "boss", scopes: ["admin"] });
    const boss = { authorization: `Bearer ${made.json.secret}` };
    expect((await b.get("/v1/models")).status).toBe(401);
    expect((await b.get("/v1/models", boss)).status).toBe(200);
    const other = await b.post("/v1/admin/keys", { name: "x", scopes: ["route"] }, boss);
    const key = { authorization: `Bearer ${other.json.secret}` };
    expect((await a.get("/v1/models", key)).status).toBe(200);
    await b.post("/v1/admin/keys/x/revoke", {}, boss);
    expect((await a.get("/v1/models", key)).status).toBe(401);
  });

  it("adds up the metrics of its processes, whichever gets the request, and keeps those of a process that ended", async () => {
    const { a, b, end } = await startTwoGateways(SANDBOX);
    for (const gateway of [a, a, b]) await gateway.post("/v1/chat/completions", duel("hi"));
    const decisions = /^joust_decisions_total\{router="auto",kind="duel"\} (\d+)$/m;
    for (const gateway of [a, b]) {
      const { text } = await gateway.get("/metrics");
      expect(decisions.exec(text)?.[1]).toBe("3");
      expect(text).toContain("joust_store_up 1");
    }
    await end("a");
    expect(decisions.exec((await b.get("/metrics")).text)?.[1]).toBe("3");
  });

  it("has one group of simulated voters, which another process continues", async () => {
    const { a, b, end } = await startTwoGateways(SANDBOX);
    await b.post("/v1/sandbox/voters", { on: true, votes_per_minute: 6000 });
    const state = async ({ get }: TestGateway) => (await get("/v1/sandbox/voters")).json;
    expect(await state(a)).toMatchObject({ on: true, votes_per_minute: 6000 });
    await expect.poll(async () => (await state(b)).cast).toBeGreaterThan(3);
    expect((await state(b)).failed).toBe(0);
    await end("a");
    await a.close();
    const { cast } = await state(b);
    await expect.poll(async () => (await state(b)).cast).toBeGreaterThan(cast);
    await b.post("/v1/sandbox/voters", { on: false });
  });

  it("has one learner per router, whose posterior all processes serve; another one takes over", async () => {
    const { a, b, end } = await startTwoGateways(SANDBOX);
    const voteOnce = async (gateway: TestGateway, text: string) => {
      const { json } = await gateway.post("/v1/chat/completions", duel(text));
      await gateway.post("/v1/feedback", { id: json.id, winner: 0 });
    };
    await voteOnce(a, "one");
    await voteOnce(b, "two");
    const stats = async ({ get }: TestGateway) => (await get("/v1/stats")).json;
    const head = await a.store.head("auto");
    for (const gateway of [a, b]) {
      await expect.poll(async () => (await stats(gateway)).posterior_version).toBe(head);
    }
    const learners = [await stats(a), await stats(b)].map(({ learner }) => learner);
    expect(learners.toSorted()).toEqual([false, true]);
    const learner = learners[0] ? "a" : "b";
    const rest = learner === "a" ? b : a;
    await end(learner);
    await expect.poll(async () => (await stats(rest)).learner).toBe(true);
  });
});
