import { isRecord, type Json } from "../../wire/json.ts";
import { conversationOf, Unsupported } from "./conversation.ts";

/**
 * Translates OpenAI's chat request to Anthropic's messages. Members without a counterpart that
 * only influence the style of an answer (seed, penalties, logit_bias, logprobs,
 * reasoning_effort) are left out, as in Anthropic's own compatible endpoint. Members that
 * would change the meaning of the answer are refused.
 */
export function messagesRequest(chat: Json, model: string, maxTokens: number) {
  if (typeof chat.n === "number" && chat.n > 1) {
    throw new Unsupported("n is above 1, and it gives one answer per request");
  }
  const { system, messages } = conversationOf(chat.messages);
  const tools = toolsOf(
    chat,
    messages.flatMap(({ content }) => content),
  );
  const instructions = [...system, ...tools.instructions];
  const options = isRecord(chat.stream_options) ? chat.stream_options : {};
  const body: Json = {
    model,
    max_tokens: positive(chat.max_completion_tokens) ?? positive(chat.max_tokens) ?? maxTokens,
    system: instructions.length > 0 ? instructions : undefined,
    messages,
    tools: tools.tools.length > 0 ? tools.tools : undefined,
    tool_choice: tools.choice,
    ...sampling(chat),
    stop_sequences: stopsOf(chat.stop),
    metadata: typeof chat.user === "string" ? { user_id: chat.user } : undefined,
    thinking: isRecord(chat.thinking) ? chat.thinking : undefined,
    stream: chat.stream === true ? true : undefined,
  };
  const wantsUsage = options.include_usage === true;
  return { body, answerTool: tools.answerTool, wantsUsage };
}

/**
 * Temperatures end at 1. Newer models accept either a temperature or top_p: if both are given,
 * the temperature is sent unless it is 1, which has no effect.
 */
function sampling(chat: Json): Json {
  const temperature = finite(chat.temperature);
  const topP = finite(chat.top_p);
  const usesTopP = topP !== undefined && (temperature === undefined || temperature === 1);
  return {
    temperature: usesTopP || temperature === undefined ? undefined : Math.min(1, temperature),
    top_p: usesTopP ? topP : undefined,
    top_k: finite(chat.top_k),
  };
}

/** Stop sequences without those of white space, which Anthropic refuses. */
function stopsOf(stop: unknown): string[] | undefined {
  const all = Array.isArray(stop) ? stop : [stop];
  const stops = all.filter(
    (text): text is string => typeof text === "string" && text.trim() !== "",
  );
  return stops.length > 0 ? stops : undefined;
}

function finite(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function positive(value: unknown): number | undefined {
  const number = finite(value);
  return number !== undefined && number >= 1 ? Math.floor(number) : undefined;
}

interface Tools {
  readonly tools: Json[];
  readonly choice: Json | undefined;
  /** Instructions for the system message, if no field expresses them. */
  readonly instructions: Json[];
  /** Name of the tool whose input is the answer. */
  readonly answerTool: string | undefined;
}

/**
 * Translates tools and the format of the answer. For an answer with a JSON schema, the model is
 * forced to call a tool whose input is the answer. If there are other tools, or the model thinks
 * first, no tool can be forced and the schema becomes an instruction.
 */
function toolsOf(chat: Json, history: readonly Json[]): Tools {
  const tools = declared(chat);
  const form = isRecord(chat.response_format) ? chat.response_format : {};
  const choice = tools.length > 0 ? choiceOf(chat) : undefined;
  if (form.type === "json_schema" && isRecord(form.json_schema)) {
    const { name, schema, description } = form.json_schema;
    const answerTool = typeof name === "string" && name !== "" ? name : "answer";
    const inputSchema = isRecord(schema) ? schema : { type: "object" };
    if (tools.length === 0 && !isRecord(chat.thinking)) {
      const text = typeof description === "string" ? description : "Gives the answer.";
      const tool = { name: answerTool, description: text, input_schema: inputSchema };
      const forced = { type: "tool", name: answerTool, disable_parallel_tool_use: true };
      return { tools: [tool], choice: forced, instructions: [], answerTool };
    }
    const words = `Give the final answer as one JSON object and nothing else, by this JSON schema: ${JSON.stringify(inputSchema)}`;
    return { tools, choice, instructions: [{ type: "text", text: words }], answerTool: undefined };
  }
  const instructions =
    form.type === "json_object"
      ? [{ type: "text", text: "Give the final answer as one JSON object and nothing else." }]
      : [];
  if (tools.length > 0) return { tools, choice, instructions, answerTool: undefined };
  // Anthropic refuses a conversation with calls if the request declares no tools.
  const called = history.filter((block) => block.type === "tool_use").map((block) => block.name);
  const remembered = [...new Set(called)].map((name) => ({
    name,
    input_schema: { type: "object" },
  }));
  return {
    tools: remembered,
    choice: remembered.length > 0 ? { type: "none" } : undefined,
    instructions,
    answerTool: undefined,
  };
}

/** Declared functions, also in the older member. Other types of tools are Anthropic's and are passed on. */
function declared(chat: Json): Json[] {
  const old = Array.isArray(chat.functions) ? chat.functions : [];
  const tools = Array.isArray(chat.tools) ? chat.tools : [];
  return [...old.map((called) => ({ type: "function", function: called })), ...tools].map(
    (tool, i) => {
      if (!isRecord(tool)) throw new Unsupported(`tools[${i}] is not an object`);
      if (tool.type !== "function") return tool;
      const called = tool.function;
      if (!isRecord(called)) throw new Unsupported(`tools[${i}].function is missing`);
      return {
        name: called.name,
        description: called.description,
        input_schema: isRecord(called.parameters) ? called.parameters : { type: "object" },
        cache_control: tool.cache_control,
      };
    },
  );
}

function choiceOf(chat: Json): Json | undefined {
  const { tool_choice: choice, function_call: old, parallel_tool_calls: parallel } = chat;
  const wanted = choice ?? old;
  const single = parallel === false ? { disable_parallel_tool_use: true } : {};
  if (wanted === "none") return { type: "none" };
  if (wanted === "required") return { type: "any", ...single };
  if (isRecord(wanted)) {
    const called = isRecord(wanted.function) ? wanted.function : wanted;
    return { type: "tool", name: called.name, ...single };
  }
  return parallel === false ? { type: "auto", ...single } : undefined;
}
