import type { Emit } from "./event.ts";
import type { Item } from "./item.ts";
import type { ItemRequest } from "./request.ts";

/** A request whose answer's schema is expressed in another way, for models without structured output. */
export interface SchemaRequest {
  readonly request: ItemRequest;
  /** Name of the tool whose arguments are the answer. */
  readonly answerTool?: string | undefined;
}

/**
 * Forces the model to call a tool whose arguments are the answer. If there are other tools, or
 * the model thinks first, no tool can be forced and the schema becomes an instruction.
 */
export function schemaAsTool(request: ItemRequest): SchemaRequest {
  const { output, tools = [], reasoning, items } = request;
  if (output?.type !== "json_schema") return { request };
  const { schema, name = "answer", description = "Gives the answer." } = output;
  const rest = { ...request, output: undefined };
  if (tools.length > 0 || reasoning?.enabled) {
    const text = `Give the final answer as one JSON object and nothing else, by this JSON schema: ${JSON.stringify(schema)}`;
    const instruction: Item = {
      type: "message",
      role: "system",
      content: [{ type: "text", text }],
    };
    return { request: { ...rest, items: [...items, instruction] } };
  }
  return {
    request: {
      ...rest,
      tools: [{ type: "function", name, description, parameters: schema }],
      toolChoice: { mode: "required", name },
      parallelToolCalls: false,
    },
    answerTool: name,
  };
}

/** Turns the call of the answer's tool into the text of the answer. */
export function answeringFromTool(name: string, emit: Emit): Emit {
  const answers = new Set<string>();
  return (event) => {
    if (event.type === "stop") {
      const isTool = answers.size > 0 && event.stop.reason === "tool_calls";
      emit(isTool ? { ...event, stop: { reason: "end" } } : event);
    } else if (
      event.type === "item" &&
      event.item.type === "function_call" &&
      event.item.name === name
    ) {
      answers.add(`${event.choice} ${event.index}`);
      emit({ ...event, item: { type: "message", role: "assistant", content: [] } });
    } else if (event.type === "delta" && answers.has(`${event.choice} ${event.index}`)) {
      emit({ ...event, kind: "text" });
    } else emit(event);
  };
}
