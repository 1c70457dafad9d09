import { once } from "node:events";
import type { FeedEvent } from "../../api/event.ts";
import type { Caller } from "../access/access.ts";
import type { Feed } from "../log/feed.ts";
import type { LiveRouter } from "../routing/live-router.ts";
import type { Client } from "../wire/client.ts";

interface EventSources {
  readonly routers: ReadonlyMap<string, LiveRouter>;
  readonly feed: Feed;
  /** Ends the stream when the gateway stops. */
  readonly closing: AbortSignal;
  /** Whether the caller may still read events. Its key may be revoked while the stream is open. */
  readonly isAdmitted: () => Promise<boolean>;
}

/** GET /v1/events: streams the events that the caller may see. An admin sees the events of all keys. */
export async function events(
  { routers, feed, closing, isAdmitted }: EventSources,
  caller: Caller,
  client: Client,
): Promise<void> {
  client.beginStream({});
  let isFull = false;
  const write = (text: string) => {
    if (isFull) return;
    const room = client.write(text);
    // A slow client misses events. The page also reads the state regularly.
    if (!room) return;
    isFull = true;
    room.then(() => {
      isFull = false;
    });
  };
  const mayUse = (router: string) => caller.routers?.includes(router) ?? true;
  for (const [name, router] of routers) {
    if (!mayUse(name)) continue;
    write(eventText(posteriorEvent(name, router.view.version)));
  }
  const stop = feed.listen((event, owner) => {
    const isOwn = caller.isAdmin || owner === caller.owner;
    const isVisible = owner === undefined ? mayUse(event.data.router) : isOwn;
    if (isVisible) write(eventText(event));
  });
  const refused = new AbortController();
  const pulse = setInterval(async () => {
    const isStillAdmitted = await isAdmitted();
    if (!isStillAdmitted) refused.abort();
    else if (!ended.aborted) write(": still here\n\n");
  }, PULSE_MS);
  const ended = AbortSignal.any([client.signal, closing, refused.signal]);
  if (!ended.aborted) await once(ended, "abort");
  clearInterval(pulse);
  stop();
  client.end();
}

/** Interval of comments, because proxies close connections that are silent for long, and of checks of the caller. */
const PULSE_MS = 15_000;

function eventText({ type, data }: FeedEvent): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function posteriorEvent(router: string, version: number): FeedEvent {
  return { type: "posterior", data: { router, version } };
}

/** Publishes each new posterior. A new listener gets the current posteriors from `events`. */
export function watchPosteriors(
  routers: () => ReadonlyMap<string, LiveRouter>,
  feed: Feed,
): () => void {
  const seen = new Map([...routers()].map(([name, router]) => [name, router.view.version]));
  const timer = setInterval(() => {
    for (const [name, router] of routers()) {
      const { version } = router.view;
      if (seen.get(name) === version) continue;
      seen.set(name, version);
      // Every process follows the posteriors by itself.
      feed.publishHere(() => posteriorEvent(name, version));
    }
  }, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

const CHECK_MS = 250;
