import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";

/** A provider at the address of OpenAI that accepts one key, and whose models answer at once. */
export class FakeProvider {
  key = "sk-proj-right-key-0123456789";
  readonly #server: Server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const send = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (request.headers.authorization !== `Bearer ${this.key}`) {
      return send(401, { error: { message: "Incorrect API key provided" } });
    }
    const { model, stream } = JSON.parse(text) as { model: string; stream?: boolean };
    const head = { id: "x", created: 1, model };
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
    const content = `Hello from ${model}.`;
    if (!stream) {
      const message = { role: "assistant", content };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      return send(200, { ...head, object: "chat.completion", choices, usage });
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const choice of [
      { index: 0, delta: { content }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: "stop" },
    ]) {
      const chunk = { ...head, object: "chat.completion.chunk", choices: [choice] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    const last = { ...head, object: "chat.completion.chunk", choices: [], usage };
    response.end(`data: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
  });

  constructor() {
    beforeAll(() => new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done)));
    afterAll(() => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }
}
