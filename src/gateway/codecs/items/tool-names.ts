import { createHash } from "node:crypto";
import type { DialectName } from "../../wire/dialect-names.ts";
import type { Item } from "./item.ts";
import type { ItemRequest } from "./request.ts";

/** The client's name of each tool that has another name at the upstream. */
export type ToolNames = ReadonlyMap<string, string>;

/** Longest name of a tool. Claude Code's names of MCP tools may be longer than OpenAI accepts. */
const LONGEST: Readonly<Record<DialectName, number>> = { chat: 64, responses: 64, messages: 128 };

/** Replaces names of tools that the dialect refuses, everywhere in a request. */
export function acceptedNames(
  request: ItemRequest,
  dialect: DialectName,
): { readonly request: ItemRequest; readonly names: ToolNames } {
  const names = new Map<string, string>();
  const rename = (name: string): string => {
    const accepted = acceptedName(name, LONGEST[dialect]);
    if (accepted !== name) names.set(accepted, name);
    return accepted;
  };
  const items = request.items.map((item) => withName(item, rename));
  const tools = request.tools?.map((tool) =>
    tool.type === "function" ? { ...tool, name: rename(tool.name) } : tool,
  );
  const { toolChoice } = request;
  const choice = toolChoice && {
    ...toolChoice,
    name: toolChoice.name === undefined ? undefined : rename(toolChoice.name),
    allowed: toolChoice.allowed?.map(rename),
  };
  return {
    request: names.size === 0 ? request : { ...request, items, tools, toolChoice: choice },
    names,
  };
}

/** A name that is accepted. It depends on the given name only, so that prompt caches stay valid. */
function acceptedName(name: string, longest: number): string {
  if (name === "" || (name.length <= longest && /^[\w-]+$/.test(name))) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${name.replaceAll(/[^\w-]/g, "_").slice(0, longest - 9)}_${hash}`;
}

/** The same for the id of a call, whose length is not limited. */
export function acceptedId(id: string): string {
  return acceptedName(id, Number.POSITIVE_INFINITY);
}

function withName(item: Item, rename: (name: string) => string): Item {
  return item.type === "function_call" ? { ...item, name: rename(item.name) } : item;
}

/** An item with the client's name of the tool, if it is a call. */
export function restoredName(item: Item, names: ToolNames): Item {
  return withName(item, (name) => names.get(name) ?? name);
}
