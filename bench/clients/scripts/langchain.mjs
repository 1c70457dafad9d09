/** LangChain with one of its chat models. The name of the plan selects it. */
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { ARGUMENTS, call, errorCell, PLAN, run } from "./harness.mjs";
import { Person, parameters } from "./schemas.mjs";

const chatModel = (model) =>
  PLAN.client === "langchain-js-anthropic"
    ? new ChatAnthropic({
        model,
        anthropicApiUrl: PLAN.url,
        apiKey: PLAN.key,
        maxTokens: PLAN.maxTokens,
      })
    : new ChatOpenAI({
        model,
        apiKey: PLAN.key,
        maxTokens: PLAN.maxTokens,
        configuration: { baseURL: `${PLAN.url}/v1` },
        useResponsesApi: PLAN.client === "langchain-js-responses",
      });
const TOOLS = Object.entries(ARGUMENTS).map(([name, argument]) =>
  tool((given) => call(name, given), {
    name,
    description: "A function.",
    schema: parameters(argument),
  }),
);

const messages = (content) => [
  { role: "system", content: PLAN.system },
  { role: "user", content },
];
const tokens = ({ input_tokens, output_tokens, input_token_details }) => ({
  input: input_tokens,
  cached: input_token_details.cache_read,
  output: output_tokens,
});
const isOf = (status) => (error) => error.status === status;

await run({
  plain: async (model, prompt) => ({
    text: (await chatModel(model).invoke(messages(prompt))).text,
  }),

  async stream(model, prompt) {
    const pieces = [];
    for await (const { text } of await chatModel(model).stream(messages(prompt))) {
      if (text) pieces.push(text);
    }
    return { text: pieces.join(""), pieces: pieces.length };
  },

  async tools(model, prompt) {
    const agent = createAgent({ model: chatModel(model), tools: TOOLS, systemPrompt: PLAN.system });
    const result = await agent.invoke({ messages: [{ role: "user", content: prompt }] });
    return { text: result.messages.at(-1).text };
  },

  async second(model, prompt) {
    const history = messages(prompt);
    history.push(await chatModel(model).invoke(history), { role: "user", content: "And again?" });
    return { text: (await chatModel(model).invoke(history)).text };
  },

  async structured(model, prompt) {
    const asking = chatModel(model).withStructuredOutput(Person, { name: "person" });
    return { object: await asking.invoke(messages(prompt)) };
  },

  async image(model, prompt) {
    const content = [
      { type: "text", text: prompt },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PLAN.image}` } },
    ];
    return { text: (await chatModel(model).invoke(messages(content))).text };
  },

  async usage(model, prompt) {
    let whole;
    for await (const chunk of await chatModel(model).stream(messages(prompt))) {
      whole = whole ? whole.concat(chunk) : chunk;
    }
    const answer = await chatModel(model).invoke(messages(prompt));
    return { plain: tokens(answer.usage_metadata), stream: tokens(whole.usage_metadata) };
  },

  async abort(model, prompt) {
    const controller = new AbortController();
    const options = { signal: controller.signal };
    for await (const { text } of await chatModel(model).stream(messages(prompt), options)) {
      if (!text) continue;
      controller.abort();
      return { text };
    }
  },

  error: errorCell(
    async (model, prompt, { stream = false } = {}) => {
      if (!stream) return chatModel(model).invoke(messages(prompt));
      for await (const _ of await chatModel(model).stream(messages(prompt)));
    },
    isOf(400),
    isOf(404),
  ),
});
