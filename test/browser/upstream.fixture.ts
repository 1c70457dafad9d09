import { EventEmitter, once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";

/** An upstream with two models that send what the test tells them to send. */
export class Upstream {
  /** Requests that arrived after the last call of `received`. */
  readonly #arrived: ServerResponse[] = [];
  readonly #arrival = new EventEmitter();
  #current: readonly ServerResponse[] = [];
  readonly #server: Server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    this.#arrived.push(response);
    this.#arrival.emit("request");
  });

  constructor() {
    beforeAll(() => new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done)));
    afterAll(() => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
  }

  /** Content of a joust.yaml with both models. */
  get config(): object {
    const { port } = this.#server.address() as AddressInfo;
    const model = { provider: "host", price: { input: 1, output: 2 } };
    return {
      providers: { host: { url: `http://127.0.0.1:${port}/v1` } },
      models: { one: model, two: { ...model, price: { input: 3, output: 6 } } },
    };
  }

  /** Sends these words to all current requests. */
  say(text: string): void {
    this.#send({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] });
  }

  finish(): void {
    this.#send({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    this.#send({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 20 } });
    for (const stream of this.#current) stream.end("data: [DONE]\n\n");
  }

  #send(event: object): void {
    const head = { id: "x", object: "chat.completion.chunk", created: 1, model: "m" };
    const text = `data: ${JSON.stringify({ ...head, ...event })}\n\n`;
    for (const stream of this.#current) stream.write(text);
  }

  /** Waits for this many new requests, and makes them the current ones. */
  async received(count: number): Promise<void> {
    while (this.#arrived.length < count) await once(this.#arrival, "request");
    this.#current = this.#arrived.splice(0, count);
  }
}
