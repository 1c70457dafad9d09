import OpenAI from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { ARGUMENTS, call, errorCell, PLAN, parametersOf, run } from "./harness.mjs";
import { Person } from "./schemas.mjs";

const client = new OpenAI({ baseURL: `${PLAN.url}/v1`, apiKey: PLAN.key });
const TOOLS = Object.keys(ARGUMENTS).map((name) => ({
  type: "function",
  name,
  strict: true,
  parameters: parametersOf(name),
}));

const options = (model, input) => ({
  model,
  input,
  instructions: PLAN.system,
  max_output_tokens: PLAN.maxTokens,
});
const ask = (model, input, more = {}) =>
  client.responses.create({ ...options(model, input), ...more });
const tokens = ({ input_tokens, output_tokens, input_tokens_details }) => ({
  input: input_tokens,
  cached: input_tokens_details.cached_tokens,
  output: output_tokens,
});

await run({
  plain: async (model, prompt) => ({ text: (await ask(model, prompt)).output_text }),

  async stream(model, prompt) {
    const pieces = [];
    const events = client.responses.stream(options(model, prompt));
    for await (const event of events) {
      if (event.type === "response.output_text.delta") pieces.push(event.delta);
    }
    const { output_text } = await events.finalResponse();
    if (output_text !== pieces.join("")) throw new Error(`the response has ${output_text}`);
    return { text: output_text, pieces: pieces.length };
  },

  async tools(model, prompt) {
    const input = [{ role: "user", content: prompt }];
    for (let step = 0; step < 6; step++) {
      const { output, output_text } = await ask(model, input, { tools: TOOLS });
      const calls = output.filter(({ type }) => type === "function_call");
      if (calls.length === 0) return { text: output_text };
      input.push(...output);
      for (const { call_id, name, arguments: given } of calls) {
        input.push({ type: "function_call_output", call_id, output: call(name, given) });
      }
    }
  },

  async second(model, prompt) {
    const { id } = await ask(model, prompt);
    const second = await ask(model, "And again?", { previous_response_id: id });
    return { text: second.output_text };
  },

  async structured(model, prompt) {
    const answer = await client.responses.parse({
      ...options(model, prompt),
      text: { format: zodTextFormat(Person, "person") },
    });
    return { object: answer.output_parsed };
  },

  async image(model, prompt) {
    const content = [
      { type: "input_text", text: prompt },
      { type: "input_image", image_url: `data:image/png;base64,${PLAN.image}`, detail: "auto" },
    ];
    return { text: (await ask(model, [{ role: "user", content }])).output_text };
  },

  async usage(model, prompt) {
    let last;
    for await (const event of await ask(model, prompt, { stream: true })) last = event;
    return { plain: tokens((await ask(model, prompt)).usage), stream: tokens(last.response.usage) };
  },

  async abort(model, prompt) {
    const events = await ask(model, prompt, { stream: true });
    for await (const event of events) {
      if (event.type !== "response.output_text.delta") continue;
      events.controller.abort();
      return { text: event.delta };
    }
  },

  error: errorCell(
    ask,
    (error) => error instanceof OpenAI.BadRequestError,
    (error) => error instanceof OpenAI.NotFoundError,
  ),
});
