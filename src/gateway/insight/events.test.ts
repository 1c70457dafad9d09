import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Caller } from "../access/access.ts";
import { SANDBOX, startGateway } from "../gateway.fixture.ts";
import { Feed } from "../log/feed.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { Client } from "../wire/client.ts";
import { events } from "./events.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

it("frees the stream of a client that disconnects after a garbage collection", async () => {
  const feed = new Feed();
  const routers = new Map([["auto", { view: { version: 1 } } as LiveRouter]]);
  const closing = new AbortController().signal;
  const sources = { routers, feed, closing, isAdmitted: async () => true };
  const ended = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    const client = new Client(response);
    events(sources, { isAdmin: true } as Caller, client).then(ended.resolve, ended.reject);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const request = get({ port: (server.address() as AddressInfo).port });
  const [response] = await once(request, "response");
  collectGarbage();
  response.on("error", () => {});
  request.destroy();
  await ended.promise;
  const isHeard = { value: false };
  feed.publish(undefined, () => {
    isHeard.value = true;
    return { type: "posterior", data: { router: "auto", version: 1 } };
  });
  expect(isHeard.value).toBe(false);
});

it("ends the stream of a key that was revoked, and no other", async () => {
  const boss = { authorization: "Bearer boss-0123456789a" };
  const { post, url } = await startGateway(
    `${SANDBOX}\nkeys: {boss: {key: boss-0123456789a, scopes: [admin]}}`,
  );
  const made = await post("/v1/admin/keys", { name: "web" }, boss);
  // The pulse of the streams is the only timer of this kind that starts from now on.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const open = async (headers: Record<string, string>) => {
    const { body } = await fetch(`${url}/v1/events`, { headers });
    const reader = body!.getReader();
    /** Reads until a comment, which is a pulse, or the end. */
    const next = async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return "end";
        if (Buffer.from(value).toString().includes(": still here")) return "pulse";
      }
    };
    onTestFinished(() => reader.cancel());
    await reader.read();
    return next;
  };
  const streams = [await open(boss), await open({ authorization: `Bearer ${made.json.secret}` })];
  const pulses = () => {
    vi.advanceTimersByTime(15_000);
    return Promise.all(streams.map((next) => next()));
  };
  expect(await pulses()).toEqual(["pulse", "pulse"]);
  await post("/v1/admin/keys/web/revoke", "", boss);
  expect(await pulses()).toEqual(["pulse", "end"]);
});
