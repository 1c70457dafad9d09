import { describe, expect, it } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import {
  chat,
  configOf,
  newFolder,
  startFaultyUpstream,
  startGateway,
} from "../gateway.fixture.ts";

const PIXEL = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const TOOLS = [{ type: "function", function: { name: "f", parameters: {} } }];
const user = (content: unknown) => ({ role: "user", content });

/** Starts a gateway with models a, b and c at increasing prices. */
async function start(more: string, models = "") {
  const host = await startFaultyUpstream();
  const yaml = `
providers: {p: {url: "${host.url("well")}"}}
models:
  a: {provider: p, price: {input: 1, output: 1}, ${models}}
  b: {provider: p, price: {input: 10, output: 10}}
  c: {provider: p, price: {input: 100, output: 100}}
${more}`;
  return { host, yaml, ...(await startGateway(yaml)) };
}

type Post = Awaited<ReturnType<typeof start>>["post"];
const modelFor = async (post: Post, body: object): Promise<string | null> =>
  (await post("/v1/chat/completions", body)).headers.get("x-joust-model");

describe("a pool without labels", () => {
  it("has the project's seven categories, starts models at the mean and lets the price break ties", async () => {
    const { post, get } = await start("routers: {auto: {explore: 0}}");
    const { json } = await post("/v1/route", chat("Write a function that adds two numbers"));
    expect(json.scores.map(({ value }: { value: number }) => value)).toEqual([0, 0, 0]);
    expect(json.model).toBe("a");
    expect(Object.keys(json.categories)).toContain("mbpp");
    expect((await get("/v1/stats")).json.leaderboard.categories).toHaveLength(7);
    for (const cost_quality_tradeoff of [0, 10]) {
      expect(await modelFor(post, chat("hi", { joust: { cost_quality_tradeoff } }))).toBe("a");
    }
  });

  it("answers with a capable model: images, tools, schemas, length", async () => {
    const { post } = await start(
      "routers: {auto: {explore: 0}}",
      "vision: false, tools: false, json_schema: false, context: 100",
    );
    expect(await modelFor(post, chat("hi"))).toBe("a");
    expect(await modelFor(post, chat("", { messages: [user([PIXEL])] }))).toBe("b");
    expect(await modelFor(post, chat("hi", { tools: TOOLS }))).toBe("b");
    const response_format = { type: "json_schema", json_schema: {} };
    expect(await modelFor(post, chat("hi", { response_format }))).toBe("b");
    expect(await modelFor(post, chat("word ".repeat(200)))).toBe("b");
    const { json } = await post("/v1/route", chat("hi", { tools: TOOLS }));
    expect(json.excluded).toEqual({ a: "supports no tools" });
    const only = chat("hi", { tools: TOOLS, joust: { allowed_models: ["a"] } });
    const none = await post("/v1/chat/completions", only);
    expect([none.status, none.json.error.code]).toEqual([400, "no_capable_model"]);
  });

  it("comes from keys in the environment, with list prices", async () => {
    const { serving } = await startGateway("", {
      env: { OPENAI_API_KEY: "sk-x", ANTHROPIC_API_KEY: "sk-y" },
    });
    const { from, models } = serving();
    expect(from).toBe("environment");
    const names = [...models.keys()];
    expect(names.some((name) => name.startsWith("gpt-"))).toBe(true);
    expect(names.some((name) => name.startsWith("claude-"))).toBe(true);
    for (const { spec } of models.values()) expect(spec.price?.input).toBeGreaterThan(0);
  });

  it("comes from the list of a local upstream", async () => {
    const host = await startFaultyUpstream();
    const env = { VLLM_BASE_URL: host.url("models") };
    const { serving } = await startGateway("", { env });
    expect([...serving().models.keys()]).toEqual(["a", "b"]);
    await expect(
      startGateway("", { env: { VLLM_BASE_URL: "http://127.0.0.1:9/v1" } }),
    ).rejects.toThrow(errorText(/vllm.*did not list its models.*hint: start it/));
  });
});

describe("modes and routers", () => {
  it("observe answers with the fallback and logs the policy's choice; bypass only answers", async () => {
    const { post, get } = await start(`
routers:
  auto: {mode: observe, fallback: c, explore: 0}
  off: {mode: bypass, fallback: b, models: [a, b]}`);
    const seen = await post("/v1/chat/completions", chat("hi"));
    expect([seen.json.model, seen.json.joust.mode]).toEqual(["c", "observe"]);
    const { json } = await get(`/v1/decisions/${seen.json.joust.decision_id}`);
    expect(json).toMatchObject({ models: ["c"], observed: { pair: ["a", "a"], propensity: 1 } });
    expect(json.reasons.join()).toContain("the policy would choose a");
    const off = await post("/v1/chat/completions", chat("hi", { model: "off" }));
    expect([off.json.model, off.json.joust.mode]).toEqual(["b", "bypass"]);
    const duel = await post("/v1/chat/completions", chat("hi", { joust: { duel: true } }));
    expect(duel.json.choices).toHaveLength(1);
  });

  it("several routers have pools, prices and posteriors of their own", async () => {
    const { post } = await start(`
routers:
  auto: {explore: 0}
  expensive: {models: [b, c], explore: 0, cost_quality_tradeoff: 0}`);
    expect(await modelFor(post, chat("hi"))).toBe("a");
    expect(await modelFor(post, chat("hi", { model: "expensive" }))).toBe("b");
    const { json } = await post(
      "/v1/chat/completions",
      chat("hi", { model: "expensive", joust: { duel: true } }),
    );
    await post("/v1/feedback", { id: json.id, winner: "tie" });
    const { json: route } = await post("/v1/route", chat("hi"));
    expect(route.posterior_version).toBeLessThanOrEqual(2);
  });

  it("limits duels that the requests did not ask for", async () => {
    const { post } = await start(
      "routers: {auto: {explore: 0, duels: {mode: true, share: 0.2, spend: 1}}}",
    );
    let duels = 0;
    for (let i = 0; i < 40; i++) {
      const { json } = await post("/v1/chat/completions", chat(`hi ${i}`));
      expect(json.choices).toHaveLength(1);
      duels += Number(json.joust.duel === "later");
    }
    expect(duels).toBeGreaterThan(5);
    expect(duels).toBeLessThanOrEqual(9); // a fifth, and one to begin with
    const requested = await post("/v1/chat/completions", chat("hi", { joust: { duel: true } }));
    expect(requested.json.choices).toHaveLength(2);
  });
});

describe("a session", () => {
  const inSession = (session_id: string, messages: unknown[], more: object = {}) => ({
    model: "auto",
    messages,
    joust: { session_id, ...more },
  });
  const running = [user("hi"), { role: "assistant", content: "hello" }, user("and now?")];

  it("keeps its model unless another gains more than the margin", async () => {
    const { post } = await start("routers: {auto: {explore: 0, session_margin: 0.05}}");
    const expensive = { allowed_models: ["b"] };
    expect(await modelFor(post, inSession("s", [user("hi")], expensive))).toBe("b");
    // Model a is cheaper, but gains less than the margin.
    expect(await modelFor(post, inSession("s", running))).toBe("b");
    expect(await modelFor(post, inSession("t", running))).toBe("a");
    expect(await modelFor(post, inSession("s", running, { cost_quality_tradeoff: 10 }))).toBe("a");
  });

  it("is read from the log after a restart", async () => {
    const folder = newFolder();
    const host = await startFaultyUpstream();
    const yaml = `
providers: {p: {url: "${host.url("well")}"}}
models: {a: {provider: p}, b: {provider: p}}
routers: {auto: {explore: 0}}`;
    const first = await startGateway(yaml, { folder });
    const model = await modelFor(
      first.post,
      inSession("s", [user("hi")], { allowed_models: ["b"] }),
    );
    await first.close();
    const second = await startGateway(yaml, { folder });
    expect(await modelFor(second.post, inSession("s", running))).toBe(model);
    const { json } = await second.get("/v1/decisions?session_id=s");
    expect(json.data[0].reasons.join()).toContain("kept in its session");
  });

  it("keeps its model during a tool loop, whatever it costs", async () => {
    const { post } = await start("routers: {auto: {explore: 0}}");
    const call = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }],
    };
    const begin = chat("weather?", { tools: TOOLS, joust: { allowed_models: ["c"] } });
    expect(await modelFor(post, begin)).toBe("c");
    const messages = [user("weather?"), call, { role: "tool", tool_call_id: "1", content: "21" }];
    const cheapest = { cost_quality_tradeoff: 10 };
    expect(await modelFor(post, { model: "auto", messages, tools: TOOLS, joust: cheapest })).toBe(
      "c",
    );
    const other = [user("another one?"), call, messages[2]];
    expect(await modelFor(post, { model: "auto", messages: other, tools: TOOLS })).toBe("a");
  });
});

describe("another configuration", () => {
  it("is served without losing a request, and keeps what was learned about models that stay", async () => {
    const { post, get, yaml, reload, store, log } = await start("routers: {auto: {explore: 0}}");
    for (let i = 0; i < 30; i++) {
      const { json } = await post(
        "/v1/chat/completions",
        chat(`q ${i}`, { joust: { duel: true } }),
      );
      await log.flush();
      const { decision } = (await store.decision(json.joust.decision_id))!;
      await post("/v1/feedback", {
        id: json.id,
        winner: decision.pair[0] < decision.pair[1] ? 0 : 1,
      });
    }
    // Values are relative to the pool's mean, so the difference of two models is compared.
    const gap = async (): Promise<number> => {
      const { json } = await get("/v1/stats");
      const { models } = json.leaderboard.categories[0];
      const value = (name: string) =>
        models.find(({ model }: { model: string }) => model === name).value;
      return value("a") - value("c");
    };
    const head = await store.head("auto");
    await expect.poll(async () => (await get("/v1/stats")).json.posterior_version).toBe(head);
    const before = await gap();
    expect(before).toBeGreaterThan(0.03);

    const statuses: number[] = [];
    let isOver = false;
    const load = Array.from({ length: 4 }, async () => {
      while (!isOver) statuses.push((await post("/v1/chat/completions", chat("hi"))).status);
    });
    const next = yaml.replace("  c:", "  d: {provider: p}\n  c:").replace(/ {2}b:.*\n/, "");
    await reload(configOf(next));
    isOver = true;
    await Promise.all(load);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const { json } = await get("/v1/stats");
    const names = json.leaderboard.overall.map(({ model }: { model: string }) => model);
    expect(names.toSorted()).toEqual(["a", "c", "d"]);
    expect(await gap()).toBeCloseTo(before, 10);
    expect((await post("/v1/chat/completions", chat("hi", { model: "b" }))).status).toBe(404);
  });

  it("changes nothing if it is invalid", async () => {
    const { post, yaml, reload } = await start("routers: {auto: {explore: 0}}");
    await expect(
      reload(configOf(yaml.replace("explore: 0", "policy: {name: joust, options: {alpa: 2}}"))),
    ).rejects.toThrow(/routers\.auto\.policy.*has no option alpa/);
    await expect(reload(configOf(yaml.replace("explore: 0", "bundle: nowhere")))).rejects.toThrow(
      errorText(/hint: /),
    );
    expect(await modelFor(post, chat("hi"))).toBe("a");
  });
});
