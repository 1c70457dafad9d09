/** The AI SDK with one of its providers. The name of the plan selects it. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { ARGUMENTS, call, errorCell, PLAN, run } from "./harness.mjs";
import { Person, parameters } from "./schemas.mjs";

const settings = { baseURL: `${PLAN.url}/v1`, apiKey: PLAN.key };
const openai = createOpenAI(settings);
const PROVIDERS = {
  "ai-sdk-openai": openai,
  "ai-sdk-openai-chat": openai.chat,
  "ai-sdk-anthropic": createAnthropic(settings),
  "ai-sdk-openai-compatible": createOpenAICompatible({
    ...settings,
    name: "joust",
    includeUsage: true,
    supportsStructuredOutputs: true,
  }),
};
const provider = PROVIDERS[PLAN.client];
const tools = Object.fromEntries(
  Object.entries(ARGUMENTS).map(([name, argument]) => [
    name,
    tool({
      description: "A function.",
      inputSchema: parameters(argument),
      execute: (given) => call(name, given),
    }),
  ]),
);

const options = (model, more = {}) => ({
  model: provider(model),
  system: PLAN.system,
  maxOutputTokens: PLAN.maxTokens,
  ...more,
});
const tokens = ({ inputTokens, outputTokens, inputTokenDetails }) => ({
  input: inputTokens,
  cached: inputTokenDetails.cacheReadTokens,
  output: outputTokens,
});

const isCallError = ({ name }) => name === "AI_APICallError";
async function ask(model, prompt, { stream = false } = {}) {
  if (!stream) return generateText(options(model, { prompt }));
  let failure;
  const onError = ({ error }) => {
    failure = error;
  };
  await streamText(options(model, { prompt, onError })).consumeStream();
  throw failure;
}

await run({
  plain: async (model, prompt) => ({ text: (await generateText(options(model, { prompt }))).text }),

  async stream(model, prompt) {
    const pieces = [];
    for await (const piece of streamText(options(model, { prompt })).textStream) pieces.push(piece);
    return { text: pieces.join(""), pieces: pieces.length };
  },

  async tools(model, prompt) {
    const loop = { prompt, tools, stopWhen: stepCountIs(6) };
    const result = streamText(options(model, loop));
    return { text: await result.text };
  },

  async second(model, prompt) {
    const question = { role: "user", content: prompt };
    const { response } = await generateText(options(model, { messages: [question] }));
    const messages = [question, ...response.messages, { role: "user", content: "And again?" }];
    return { text: (await generateText(options(model, { messages }))).text };
  },

  async structured(model, prompt) {
    const output = Output.object({ schema: Person });
    return { object: (await generateText(options(model, { prompt, output }))).output };
  },

  async image(model, prompt) {
    const content = [
      { type: "text", text: prompt },
      { type: "image", image: Buffer.from(PLAN.image, "base64"), mediaType: "image/png" },
    ];
    const messages = [{ role: "user", content }];
    return { text: (await generateText(options(model, { messages }))).text };
  },

  async usage(model, prompt) {
    const plain = await generateText(options(model, { prompt }));
    const streamed = streamText(options(model, { prompt }));
    return { plain: tokens(plain.usage), stream: tokens(await streamed.usage) };
  },

  async abort(model, prompt) {
    const controller = new AbortController();
    const more = { prompt, abortSignal: controller.signal };
    for await (const piece of streamText(options(model, more)).textStream) {
      controller.abort();
      return { text: piece };
    }
  },

  error: errorCell(ask, isCallError, isCallError),
});
