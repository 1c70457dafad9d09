import type { Json } from "../../wire/json.ts";
import type { CacheMark, Part, Source } from "../items/item.ts";
import {
  extraFor,
  extraOf,
  opaque,
  plainText,
  readCache,
  readParts,
  record,
  str,
} from "../items/read.ts";

/** Reads text or a list of blocks. */
export function readBlocks(content: unknown): Part[] {
  return readParts(content, readBlock);
}

export function readBlock(block: Json): Part {
  const slots = {
    cache: readCache(block.cache_control),
    extra: extraOf(block, KNOWN, "messages"),
  };
  if (block.type === "text") return { type: "text", text: str(block.text) ?? "", ...slots };
  const source = readSource(record(block.source));
  if (source && block.type === "image" && source.type !== "text") {
    return { type: "image", source, ...slots };
  }
  if (source && block.type === "document") {
    return { type: "document", source, filename: str(block.title), ...slots };
  }
  return opaque("messages", block);
}

const KNOWN: ReadonlySet<string> = new Set(["type", "text", "source", "title", "cache_control"]);

function readSource(source: Json | undefined): Source | undefined {
  const data = str(source?.data);
  const url = str(source?.url);
  const id = str(source?.file_id);
  if (source?.type === "base64" && data !== undefined) {
    return { type: "base64", mediaType: str(source.media_type) ?? "", data };
  }
  if (source?.type === "url" && url !== undefined) return { type: "url", url };
  if (source?.type === "file" && id !== undefined) return { type: "file", id };
  if (source?.type === "text" && data !== undefined) return { type: "text", text: data };
  return undefined;
}

/** Writes parts as a string if they are one plain text, otherwise as a list of blocks. */
export function writeContent(parts: readonly Part[]): string | Json[] {
  const blocks = parts.flatMap(writeBlock);
  return plainText(blocks) ?? blocks;
}

/** Writes a part as one block, or none if Anthropic has nothing like it. */
export function writeBlock(part: Part): Json[] {
  if (part.type === "opaque") return part.dialect === "messages" ? [part.value] : [];
  const block = blockOf(part);
  if (!block) return [];
  return [{ ...block, ...writeCache(part.cache), ...extraFor(part.extra, "messages") }];
}

function blockOf(part: Exclude<Part, { type: "opaque" }>): Json | undefined {
  switch (part.type) {
    case "text":
    case "refusal":
      return { type: "text", text: part.text };
    case "image":
      return { type: "image", source: writeSource(part.source) };
    case "document":
      return { type: "document", source: writeSource(asText(part.source)), title: part.filename };
    case "audio":
      return undefined;
  }
}

/** A text in base64 as plain text: of documents in base64, Anthropic accepts PDF alone. */
function asText(source: Source): Source {
  if (source.type !== "base64" || !source.mediaType.startsWith("text/")) return source;
  return { type: "text", text: Buffer.from(source.data, "base64").toString() };
}

function writeSource(source: Source): Json {
  switch (source.type) {
    case "base64":
      return { type: "base64", media_type: source.mediaType, data: source.data };
    case "text":
      return { type: "text", media_type: "text/plain", data: source.text };
    case "file":
      return { type: "file", file_id: source.id };
    case "url":
      return source;
  }
}

export function writeCache(cache: CacheMark | undefined): Json | undefined {
  return cache && { cache_control: { type: "ephemeral", ttl: cache.ttl } };
}
