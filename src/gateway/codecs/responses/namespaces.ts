import { isRecord, type Json } from "../../wire/json.ts";
import type { Item } from "../items/item.ts";

/** Namespaces of functions, by the name of the function. */
export type Namespaces = ReadonlyMap<string, string>;

/**
 * Takes the functions out of their namespaces, which other dialects do not have. A function
 * is dropped if another tool has its name.
 */
export function flattenNamespaces(body: Json): { body: Json; namespaces: Namespaces } {
  const namespaces = new Map<string, string>();
  const { tools } = body;
  if (!Array.isArray(tools) || !tools.some(isNamespace)) return { body, namespaces };
  const taken = new Set(tools.map((tool) => isRecord(tool) && tool.name));
  const flat = tools.flatMap((tool: unknown) => {
    if (!isNamespace(tool)) return [tool];
    return tool.tools.filter((inner) => {
      if (!isRecord(inner) || typeof inner.name !== "string" || taken.has(inner.name)) return false;
      taken.add(inner.name);
      namespaces.set(inner.name, tool.name);
      return true;
    });
  });
  return { body: { ...body, tools: flat }, namespaces };
}

function isNamespace(tool: unknown): tool is { name: string; tools: unknown[] } {
  return (
    isRecord(tool) &&
    tool.type === "namespace" &&
    typeof tool.name === "string" &&
    Array.isArray(tool.tools)
  );
}

/** Adds the namespace of its function to a call. */
export function inNamespace(item: Item, namespaces: Namespaces): Item {
  if (item.type !== "function_call") return item;
  const namespace = namespaces.get(item.name);
  if (namespace === undefined) return item;
  return { ...item, extra: { ...item.extra, responses: { namespace } } };
}
