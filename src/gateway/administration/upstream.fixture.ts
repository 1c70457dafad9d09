import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A provider that accepts one key, or needs none, and has some models, all of which answer OK. */
export async function startUpstream(key: string | undefined, models: readonly string[]) {
  const server = createServer(async (request, response) => {
    const send = (status: number, body: object) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    let text = "";
    for await (const chunk of request) text += chunk;
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`) {
      return send(401, {
        error: { message: "Incorrect API key provided", code: "invalid_api_key" },
      });
    }
    if (request.url?.endsWith("/models")) {
      return send(200, { object: "list", data: models.map((id) => ({ id, object: "model" })) });
    }
    const { model } = JSON.parse(text) as { model: string };
    if (!models.includes(model)) {
      return send(404, { error: { message: `The model ${model} does not exist` } });
    }
    send(200, {
      id: "x",
      object: "chat.completion",
      created: 1,
      model,
      choices: [{ index: 0, message: { role: "assistant", content: "OK" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 },
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}
