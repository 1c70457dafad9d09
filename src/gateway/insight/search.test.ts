import { describe, expect, it } from "vitest";
import { chat, SANDBOX, startFaultyUpstream, startGateway } from "../gateway.fixture.ts";
import { csvLine } from "./export.ts";

const KEYS = `
keys:
  ann: {key: sk-ann-000000000000000000, scopes: [route, vote]}
  bob: {key: sk-bob-000000000000000000, scopes: [route]}
  eve: {key: sk-eve-000000000000000000, scopes: [admin]}`;
const as = (name: string) => ({ authorization: `Bearer sk-${name}-000000000000000000` });

interface Found {
  readonly id: string;
  readonly key?: string;
}

describe("a search for requests", () => {
  it("finds a key's own requests, and those of all keys for an administrator", async () => {
    const { post, get } = await startGateway(`${SANDBOX}${KEYS}`);
    await post("/v1/chat/completions", chat("one"), as("ann"));
    await post("/v1/chat/completions", chat("two"), as("bob"));
    const keysIn = async (query: string, name: string) => {
      const { json } = await get(`/v1/decisions?${query}`, as(name));
      return (json.data as Found[]).map(({ key }) => key);
    };
    expect(await keysIn("", "ann")).toEqual(["config:ann"]);
    expect(await keysIn("key=config:bob", "ann")).toEqual([]);
    expect(await keysIn("", "eve")).toEqual(["config:bob", "config:ann"]);
    expect(await keysIn("key=config:bob", "eve")).toEqual(["config:bob"]);
    expect((await keysIn("outcome=ok&min_latency_ms=0&vote=none", "eve")).length).toBe(2);
    expect(await keysIn("outcome=failed", "eve")).toEqual([]);
  });

  it("does not tell which models answered a duel before the vote", async () => {
    const { post, get } = await startGateway(SANDBOX);
    const { json } = await post("/v1/chat/completions", chat("why?", { joust: { duel: true } }));
    const id = json.joust.decision_id as string;
    const models = (await get("/v1/models")).json.data as { id: string; owned_by: string }[];
    const finds = async () => {
      const all = models.filter(({ owned_by }) => owned_by !== "joust");
      const found = await Promise.all(
        all.map(
          async (model) => (await get(`/v1/decisions?model=${model.id}`)).json.data as Found[],
        ),
      );
      return found.flat().filter((one) => one.id === id).length;
    };
    expect(await finds()).toBe(0);
    const conditions = ["max_cost=100", "min_cost=0", "max_latency_ms=1e9", "outcome=ok"];
    for (const condition of [...conditions, ...models.map((model) => `model=${model.id}`)]) {
      const page = (await get(`/v1/decisions?limit=1&${condition}`)).json;
      expect([condition, page]).toEqual([condition, { object: "list", data: [] }]);
      const file = await get(`/v1/decisions/export?limit=1&format=json&${condition}`);
      expect(file.json).toEqual([]);
    }
    await post("/v1/feedback", { id, winner: 0, voter: "ann" });
    expect(await finds()).toBe(2);
  });

  it("shows the whole story of a failed request", async () => {
    const host = await startFaultyUpstream();
    const { post, get } = await startGateway(`
providers: {p: {url: "${host.url("error500")}"}}
models: {a: {provider: p, retries: 0}, b: {provider: p, retries: 0}}
routers: {auto: {explore: 0}}`);
    await post("/v1/chat/completions", chat("hi"));
    const { data } = (await get("/v1/decisions?outcome=failed")).json;
    const [answer] = data[0].answers;
    expect(answer).toMatchObject({ status: "failed", error: expect.stringMatching(/./) });
    expect(answer.fallbacks).toHaveLength(1);
    expect(answer.fallbacks[0].reason).toMatch(/./);
  });

  it("shows the text of a stored answer", async () => {
    const { post, get } = await startGateway(`${SANDBOX}\nstore: {prompts: true}`);
    const { json } = await post("/v1/responses", { model: "auto", input: "Why is the sky blue?" });
    await expect
      .poll(async () => (await get(`/v1/decisions/${json.id}`)).json.answers[0].text)
      .toBe(json.output.at(-1).content[0].text);
    const found = (await get("/v1/decisions?text=THE%20sky")).json.data as Found[];
    expect(found.map(({ id }) => `resp_${id}`)).toEqual([json.id]);
  });

  it("says what is wrong with a condition", async () => {
    const { get } = await startGateway(SANDBOX);
    for (const [query, param] of [
      ["outcome=bad", "outcome"],
      ["since=yesterday", "since"],
      ["min_cost=-1", "min_cost"],
      ["max_latency_ms=x", "max_latency_ms"],
      ["before=1", "before"],
    ]) {
      const { status, json } = await get(`/v1/decisions?${query}`);
      expect([query, status, json.error.param]).toEqual([query, 400, param]);
    }
  });
});

describe("an export", () => {
  it("is a CSV or JSON file of the requests that a search finds", async () => {
    const { post, get } = await startGateway(SANDBOX);
    const session = { joust: { session_id: '=HYPERLINK(1), "x"' } };
    for (let n = 0; n < 3; n++) await post("/v1/chat/completions", chat(`hi ${n}`, session));
    const listed = (await get("/v1/decisions")).json.data as Found[];
    const { text, headers } = await get("/v1/decisions/export?limit=2");
    expect(headers.get("content-disposition")).toBe('attachment; filename="joust-requests.csv"');
    const lines = text.split("\r\n");
    expect(lines).toHaveLength(4);
    expect(lines[0]).toMatch(/^id,at,router,key,session_id,duel,models,status,/);
    expect(lines[1]).toContain(`"'=HYPERLINK(1), ""x"""`);
    expect(lines[2]!.startsWith(`${listed[1]!.id},`)).toBe(true);
    const json = (await get("/v1/decisions/export?format=json&outcome=ok")).json as Found[];
    expect(json).toEqual(listed);
    expect((await get("/v1/decisions/export?format=json&outcome=failed")).json).toEqual([]);
  });

  it("marks cells that a spreadsheet would evaluate, and quotes", () => {
    expect(csvLine(["=1+1", -2, 'a "b"', "c,d", undefined])).toBe(`'=1+1,-2,"a ""b""","c,d",\r\n`);
  });
});
