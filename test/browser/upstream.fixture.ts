import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";

/** A host of two models that say what a test has them say, when it has them say it. */
export class Upstream {
  readonly #streams = new Set<ServerResponse>();
  readonly #server: Server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    this.#streams.add(response);
    response.on("close", () => this.#streams.delete(response));
  });

  constructor() {
    beforeAll(() => new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done)));
    afterAll(() => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
  }

  /** A joust.yaml with both of its models. */
  get config(): object {
    const { port } = this.#server.address() as AddressInfo;
    const model = { provider: "host", price: { input: 1, output: 2 } };
    return {
      providers: { host: { url: `http://127.0.0.1:${port}/v1` } },
      models: { one: model, two: { ...model, price: { input: 3, output: 6 } } },
    };
  }

  /** All answers under way go on by these words. */
  say(text: string): void {
    this.#send({ choices: [{ index: 0, delta: { content: text }, finish_reason: null }] });
  }

  finish(): void {
    this.#send({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
    this.#send({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 20 } });
    for (const stream of this.#streams) stream.end("data: [DONE]\n\n");
  }

  #send(event: object): void {
    const head = { id: "x", object: "chat.completion.chunk", created: 1, model: "m" };
    const text = `data: ${JSON.stringify({ ...head, ...event })}\n\n`;
    for (const stream of this.#streams) stream.write(text);
  }

  /** Until so many answers are under way. */
  async asked(count: number): Promise<void> {
    while (this.#streams.size < count) await new Promise((done) => setTimeout(done, 10));
  }
}
