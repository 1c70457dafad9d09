import { expect, it } from "vitest";
import { serverEvents } from "./server-events.ts";

const TEXT = 'event: vote\nid: 7\ndata: {"é": 1}\n\n: still here\n\ndata: [DONE]\n\n';

async function read(pieces: readonly Uint8Array[]): Promise<unknown[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const events: unknown[] = [];
  for await (const { event, id, data } of serverEvents(new Response(body))) {
    events.push({ event, id, data });
  }
  return events;
}

it("events are the same wherever the network has cut them", async () => {
  const bytes = new TextEncoder().encode(TEXT);
  const whole = await read([bytes]);
  expect(whole).toEqual([
    { event: "vote", id: "7", data: '{"é": 1}' },
    { event: undefined, id: undefined, data: "[DONE]" },
  ]);
  for (let at = 1; at < bytes.length; at++) {
    expect(await read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
  }
});

it("who stops listening lets go of the connection", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("data: x\n\n")),
    cancel: () => {
      isCancelled = true;
    },
  });
  for await (const { data } of serverEvents(new Response(body))) {
    expect(data).toBe("x");
    break;
  }
  expect(isCancelled).toBe(true);
});
