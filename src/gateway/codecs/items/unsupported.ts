import type { DialectName } from "../../wire/dialect-names.ts";
import type { Part } from "./item.ts";
import type { HostedTool, ItemRequest, Tool } from "./request.ts";

/**
 * Content of a request that a dialect has no place for. Leaving it out would change
 * the question, so the request should go to a model with another dialect, or be refused.
 */
export function unsupportedBy(dialect: DialectName, request: ItemRequest): string[] {
  const parts = request.items.flatMap((item): readonly Part[] => {
    if (item.type === "message") return item.content;
    return item.type === "function_call_output" ? item.output : [];
  });
  const found = parts.flatMap((part) => unsupportedPart(dialect, part) ?? []);
  for (const tool of request.tools ?? []) {
    if (!isForeign(tool, dialect)) continue;
    found.push(`the tool ${tool.value.type}, which runs at a provider that speaks ${tool.dialect}`);
  }
  for (const item of request.items) {
    // Without a compacted conversation, most of the question would be missing.
    if (item.type !== "hosted" || item.dialect === dialect) continue;
    if (String(item.value.type).startsWith("compaction")) found.push(`item ${item.value.type}`);
  }
  if (dialect !== "chat" && (request.choices ?? 1) > 1) found.push(SEVERAL);
  return [...new Set(found)];
}

/** Name of several answers in the list of unsupported content. */
export const SEVERAL = "n above 1";

/** Whether a tool runs at upstreams of another dialect only. */
export function isForeign(tool: Tool, dialect: DialectName): tool is HostedTool {
  return tool.type === "hosted" && tool.dialect !== dialect;
}

function unsupportedPart(dialect: DialectName, part: Part): string | undefined {
  switch (part.type) {
    case "audio":
      return dialect === "messages" ? "audio" : undefined;
    case "image":
      return dialect === "chat" && part.source.type === "file" ? "image by file id" : undefined;
    case "document":
      return dialect === "chat" && part.source.type === "url" ? "document by URL" : undefined;
    case "opaque":
      return part.dialect === dialect ? undefined : `part ${part.value.type}`;
    default:
      return undefined;
  }
}

/** A request that cannot be expressed in the upstream's dialect. */
export class Untranslatable extends Error {
  override readonly name = "Untranslatable";
  /** Member of the request that is at fault, if it is known. */
  readonly param: string | undefined;

  constructor(message: string, param?: string) {
    super(message);
    this.param = param;
  }
}
