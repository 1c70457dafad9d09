import { describe, expect, it, onTestFinished } from "vitest";
import { chat, SANDBOX, startFaultyUpstream, startGateway } from "../gateway.fixture.ts";

describe("requests at a time", () => {
  it("are limited for each key, and again allowed when others have ended", async () => {
    const host = await startFaultyUpstream();
    const { post, url } = await startGateway(
      `keys: {one: {key: one-0123456789abc, concurrent: 2}, two: {key: two-0123456789abc}}
server: {concurrent: 3}
providers: {hang: {url: "${host.url("hang")}"}, well: {url: "${host.url("well")}"}}
models: {hang: {provider: hang, timeout_seconds: 600}, well: {provider: well}}`,
    );
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const hold = async (name: string, count: number) => {
      for (let i = 0; i < count; i++) {
        fetch(`${url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${name}-0123456789abc` },
          body: JSON.stringify(chat("hi", { model: "hang" })),
          signal: stop.signal,
        }).catch(() => {});
      }
      await expect.poll(async () => (await ask(name)).status).toBe(429);
    };
    const ask = (name: string) =>
      post("/v1/chat/completions", chat("hi", { model: "well" }), {
        authorization: `Bearer ${name}-0123456789abc`,
      });
    await hold("one", 2);
    expect((await ask("one")).json.error).toMatchObject({
      code: "too_many_concurrent",
      message: "more than 2 requests at a time",
    });
    expect((await ask("two")).status).toBe(200);
    await hold("two", 3);
    stop.abort();
    await expect.poll(async () => (await ask("one")).status).toBe(200);
    await expect.poll(async () => (await ask("two")).status).toBe(200);
  });

  it("are limited for a stored key, whose limit can be changed and removed", async () => {
    const host = await startFaultyUpstream();
    const admin = { authorization: "Bearer boss-0123456789a" };
    const { post, url } = await startGateway(
      `keys: {boss: {key: boss-0123456789a, scopes: [admin]}}
server: {concurrent: 3}
providers: {hang: {url: "${host.url("hang")}"}, well: {url: "${host.url("well")}"}}
models: {hang: {provider: hang, timeout_seconds: 600}, well: {provider: well}}`,
    );
    const made = await post("/v1/admin/keys", { name: "web", concurrent: 1 }, admin);
    expect(made.json).toMatchObject({ name: "web", concurrent: 1 });
    const key = { authorization: `Bearer ${made.json.secret}` };
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const hold = () => {
      const body = JSON.stringify(chat("hi", { model: "hang" }));
      const request = { method: "POST", headers: key, body, signal: stop.signal };
      fetch(`${url}/v1/chat/completions`, request).catch(() => {});
    };
    const ask = () => post("/v1/chat/completions", chat("hi", { model: "well" }), key);
    const setLimit = (concurrent: unknown) =>
      post("/v1/admin/keys/web/concurrent", { concurrent }, admin);
    hold();
    await expect.poll(async () => (await ask()).status).toBe(429);
    expect((await ask()).json.error).toMatchObject({
      code: "too_many_concurrent",
      hint: expect.stringContaining("`joust keys concurrent`"),
    });
    expect((await setLimit(2)).json).toMatchObject({ name: "web", concurrent: 2 });
    expect((await ask()).status).toBe(200);
    for (const wrong of [0, 1.5, "many"]) expect((await setLimit(wrong)).status).toBe(400);
    hold();
    await expect.poll(async () => (await ask()).status).toBe(429);
    // Without a limit of its own, the key has that of the configuration.
    expect((await setLimit(null)).json).not.toHaveProperty("concurrent");
    expect((await ask()).status).toBe(200);
    hold();
    await expect.poll(async () => (await ask()).status).toBe(429);
  });

  it("are limited for event streams", async () => {
    const gateway = await startGateway(SANDBOX);
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    // The responses are kept, because a stream is closed when its response is collected.
    const responses = await Promise.all(
      Array.from({ length: 55 }, () => fetch(`${gateway.url}/v1/events`, { signal: stop.signal })),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(50);
    expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  });
});
