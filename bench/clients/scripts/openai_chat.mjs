import OpenAI from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { ARGUMENTS, call, errorCell, PLAN, parametersOf, run } from "./harness.mjs";
import { Person } from "./schemas.mjs";

const client = new OpenAI({ baseURL: `${PLAN.url}/v1`, apiKey: PLAN.key });
const TOOLS = Object.keys(ARGUMENTS).map((name) => ({
  type: "function",
  function: { name, strict: true, parameters: parametersOf(name) },
}));

const messages = (content) => [
  { role: "system", content: PLAN.system },
  { role: "user", content },
];
const ask = (model, content, more = {}) =>
  client.chat.completions.create({
    model,
    messages: messages(content),
    max_completion_tokens: PLAN.maxTokens,
    ...more,
  });
const tokens = ({ prompt_tokens, completion_tokens, prompt_tokens_details }) => ({
  input: prompt_tokens,
  cached: prompt_tokens_details.cached_tokens,
  output: completion_tokens,
});

await run({
  plain: async (model, prompt) => ({ text: (await ask(model, prompt)).choices[0].message.content }),

  async stream(model, prompt) {
    const pieces = [];
    for await (const { choices } of await ask(model, prompt, { stream: true })) {
      if (choices[0]?.delta.content) pieces.push(choices[0].delta.content);
    }
    return { text: pieces.join(""), pieces: pieces.length };
  },

  async tools(model, prompt) {
    const runner = client.chat.completions.runTools({
      model,
      messages: messages(prompt),
      tools: TOOLS.map(({ function: { name, ...more } }) => ({
        type: "function",
        function: { name, ...more, parse: JSON.parse, function: (given) => call(name, given) },
      })),
    });
    return { text: await runner.finalContent() };
  },

  async second(model, prompt) {
    const first = (await ask(model, prompt)).choices[0].message;
    const history = [...messages(prompt), first, { role: "user", content: "And again?" }];
    const { choices } = await ask(model, prompt, { messages: history });
    return { text: choices[0].message.content };
  },

  async structured(model, prompt) {
    const answer = await client.chat.completions.parse({
      model,
      messages: messages(prompt),
      response_format: zodResponseFormat(Person, "person"),
    });
    return { object: answer.choices[0].message.parsed };
  },

  async image(model, prompt) {
    const answer = await ask(model, [
      { type: "text", text: prompt },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PLAN.image}` } },
    ]);
    return { text: answer.choices[0].message.content };
  },

  async usage(model, prompt) {
    let last;
    const options = { stream: true, stream_options: { include_usage: true } };
    for await (const { usage } of await ask(model, prompt, options)) last = usage ?? last;
    return { plain: tokens((await ask(model, prompt)).usage), stream: tokens(last) };
  },

  async abort(model, prompt) {
    const chunks = await ask(model, prompt, { stream: true });
    for await (const { choices } of chunks) {
      if (!choices[0]?.delta.content) continue;
      chunks.controller.abort();
      return { text: choices[0].delta.content };
    }
  },

  error: errorCell(
    ask,
    (error) => error instanceof OpenAI.BadRequestError,
    (error) => error instanceof OpenAI.NotFoundError,
  ),
});
