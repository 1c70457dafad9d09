import type { Json } from "../../wire/json.ts";
import type { Part } from "../items/item.ts";
import {
  extraFor,
  extraOf,
  opaque,
  plainText,
  readCache,
  readDetail,
  readFileData,
  readParts,
  readUrl,
  record,
  records,
  str,
  writeUrl,
} from "../items/read.ts";

/** Reads the content of a message: text or a list of parts. */
export function readContent(content: unknown): Part[] {
  const isList = Array.isArray(content);
  const own = isList ? records(content).filter(({ type }) => type !== "thinking") : content;
  return readParts(own, readPart);
}

/** Text of Mistral's reasoning, which is a part of the content. */
export function readThinking(content: unknown): string {
  const parts = Array.isArray(content) ? records(content) : [];
  return parts
    .filter((part) => part.type === "thinking")
    .flatMap((part) => records(part.thinking).map((each) => str(each.text) ?? ""))
    .join("");
}

function readPart(part: Json): Part {
  const slots = {
    cache: readCache(part.cache_control),
    extra: extraOf(part, KNOWN, "chat"),
  };
  switch (part.type) {
    case "text":
      return { type: "text", text: str(part.text) ?? "", ...slots };
    case "refusal":
      return { type: "refusal", text: str(part.refusal) ?? "", ...slots };
    case "image_url": {
      const image = record(part.image_url);
      const url = str(image?.url) ?? str(part.image_url);
      if (url === undefined) break;
      return { type: "image", source: readUrl(url), detail: readDetail(image?.detail), ...slots };
    }
    case "input_audio": {
      const audio = record(part.input_audio);
      const format = str(audio?.format) ?? "";
      return { type: "audio", data: str(audio?.data) ?? "", format, ...slots };
    }
    case "file": {
      const file = record(part.file);
      const id = str(file?.file_id);
      const data = str(file?.file_data);
      const filename = str(file?.filename);
      if (id !== undefined) {
        return { type: "document", source: { type: "file", id }, filename, ...slots };
      }
      if (data === undefined) break;
      return { type: "document", source: readFileData(data), filename, ...slots };
    }
  }
  return opaque(ANTHROPIC.has(String(part.type)) ? "messages" : "chat", part);
}

/** Anthropic's parts, which chat clients may send for its models. */
const ANTHROPIC: ReadonlySet<string> = new Set(["image", "document", "search_result"]);

const KNOWN: ReadonlySet<string> = new Set([
  "type",
  "text",
  "refusal",
  "image_url",
  "input_audio",
  "file",
  "cache_control",
]);

/** Writes parts as a string if they are one plain text, otherwise as a list. */
export function writeContent(parts: readonly Part[]): string | Json[] {
  const written = parts.flatMap((part) => {
    const wire = writePart(part);
    if (!wire || part.type === "opaque") return wire ? [wire] : [];
    return [{ ...wire, ...extraFor(part.extra, "chat") }];
  });
  return plainText(written) ?? written;
}

/** Whether chat has a place for the part. */
export function isWritable(part: Part): boolean {
  return writePart(part) !== undefined;
}

function writePart(part: Part): Json | undefined {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "refusal":
      return { type: "refusal", refusal: part.text };
    case "audio":
      return { type: "input_audio", input_audio: { data: part.data, format: part.format } };
    case "image": {
      const url = writeUrl(part.source);
      return url === undefined
        ? undefined
        : { type: "image_url", image_url: { url, detail: part.detail } };
    }
    case "document": {
      const { source, filename } = part;
      if (source.type === "file") return { type: "file", file: { file_id: source.id, filename } };
      if (source.type === "text") return { type: "text", text: source.text };
      if (source.type === "url") return undefined;
      return { type: "file", file: { file_data: writeUrl(source), filename } };
    }
    case "opaque":
      return part.dialect === "chat" ? part.value : undefined;
  }
}
