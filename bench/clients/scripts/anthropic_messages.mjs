import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { ARGUMENTS, call, errorCell, PLAN, run } from "./harness.mjs";
import { Person, parameters } from "./schemas.mjs";

const client = new Anthropic({ baseURL: PLAN.url, apiKey: PLAN.key });
const TOOLS = Object.entries(ARGUMENTS).map(([name, argument]) =>
  betaZodTool({
    name,
    description: "A function.",
    inputSchema: parameters(argument),
    run: (given) => call(name, given),
  }),
);

const options = (model, content) => ({
  model,
  max_tokens: PLAN.maxTokens,
  system: PLAN.system,
  messages: [{ role: "user", content }],
});
const ask = (model, content, more = {}) =>
  client.messages.create({ ...options(model, content), ...more });
const tokens = ({ input_tokens, cache_read_input_tokens: cached, output_tokens }) => ({
  input: input_tokens + cached,
  cached,
  output: output_tokens,
});

await run({
  plain: async (model, prompt) => ({ text: (await ask(model, prompt)).content[0].text }),

  async stream(model, prompt) {
    const pieces = [];
    const events = client.messages.stream(options(model, prompt));
    events.on("text", (text) => pieces.push(text));
    return { text: await events.finalText(), pieces: pieces.length };
  },

  async tools(model, prompt) {
    const last = await client.beta.messages.toolRunner({ ...options(model, prompt), tools: TOOLS });
    return { text: last.content[0].text };
  },

  async second(model, prompt) {
    const { role, content } = await ask(model, prompt);
    const question = { role: "user", content: prompt };
    const messages = [question, { role, content }, { role: "user", content: "And again?" }];
    return { text: (await ask(model, prompt, { messages })).content[0].text };
  },

  async structured(model, prompt) {
    const answer = await client.messages.parse({
      ...options(model, prompt),
      output_config: { format: zodOutputFormat(Person) },
    });
    return { object: answer.parsed_output };
  },

  async image(model, prompt) {
    const source = { type: "base64", media_type: "image/png", data: PLAN.image };
    const content = [
      { type: "image", source },
      { type: "text", text: prompt },
    ];
    return { text: (await ask(model, content)).content[0].text };
  },

  async usage(model, prompt) {
    const streamed = await client.messages.stream(options(model, prompt)).finalMessage();
    return { plain: tokens((await ask(model, prompt)).usage), stream: tokens(streamed.usage) };
  },

  async abort(model, prompt) {
    const events = await ask(model, prompt, { stream: true });
    for await (const event of events) {
      if (event.type !== "content_block_delta") continue;
      events.controller.abort();
      return { text: event.delta.text };
    }
  },

  error: errorCell(
    ask,
    (error) => error instanceof Anthropic.BadRequestError,
    (error) => error instanceof Anthropic.NotFoundError,
  ),
});
