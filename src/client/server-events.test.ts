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
  for await (const event of serverEvents(new Response(body))) events.push(event);
  return events;
}

it.each([TEXT, TEXT.replaceAll("\n", "\r\n")])(
  "yields the same events wherever the network cuts the bytes",
  async (text) => {
    const bytes = new TextEncoder().encode(text);
    const whole = await read([bytes]);
    expect(whole).toEqual([
      { name: "vote", data: '{"é": 1}' },
      { name: "", data: "[DONE]" },
    ]);
    for (let at = 1; at < bytes.length; at++) {
      expect(await read([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
  },
);

it("closes the connection when the loop ends", async () => {
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

it("joins the lines of data", async () => {
  const bytes = new TextEncoder().encode("data: a\ndata:b\ndata\nretry: 5\n\n");
  expect(await read([bytes])).toEqual([{ name: "", data: "a\nb\n" }]);
});
