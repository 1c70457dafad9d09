import { isRecord, type Json } from "../../wire/json-value.ts";
import { Unsupported } from "./unsupported.ts";

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
export function toolsOf(chat: Json, history: readonly Json[]): Tools {
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
