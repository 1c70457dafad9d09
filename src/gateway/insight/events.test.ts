import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, onTestFinished } from "vitest";
import type { Caller } from "../access/access.ts";
import { Feed } from "../log/feed.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import { Client } from "../wire/client.ts";
import { events } from "./events.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

it("frees the stream of a client that disconnects after a garbage collection", async () => {
  const feed = new Feed();
  const routers = new Map([["auto", { view: { version: 1 } } as LiveRouter]]);
  const sources = { routers, feed, closing: new AbortController().signal };
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
