import { isRecord, type Json } from "../../wire/json-value.ts";
import { Unsupported } from "./unsupported.ts";

interface Tools {
  readonly tools: Json[];
  readonly choice: Json | undefined;
  /** What has to be said in words for want of a field. */
  readonly instructions: Json[];
  readonly answerTool: string | undefined;
}

/**
 * Tools, and the form of the answer. An answer by a JSON schema is the input of
 * a tool that has to be called; where other tools may be called too, or the
 * model thinks first, no tool can be forced and the schema is asked for in words.
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
  // A conversation in which tools were called is refused without tools.
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

/** Functions, under their old name too; what is none of them is Anthropic's own and goes through. */
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
