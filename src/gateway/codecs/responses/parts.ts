import type { Json } from "../../wire/json.ts";
import type { MessageItem, Part } from "../items/item.ts";
import {
  extraFor,
  extraOf,
  opaque,
  readDetail,
  readFileData,
  readParts,
  readUrl,
  record,
  records,
  str,
  writeUrl,
} from "../items/read.ts";

/** Reads text or a list of parts, of the input or of an answer. */
export function readContent(content: unknown): Part[] {
  return readParts(content, readPart);
}

function readPart(part: Json): Part {
  const extra = extraOf(part, KNOWN, "responses");
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text": {
      const logprobs = records(part.logprobs);
      const text = str(part.text) ?? "";
      return { type: "text", text, logprobs: logprobs.length > 0 ? logprobs : undefined, extra };
    }
    case "refusal":
      return { type: "refusal", text: str(part.refusal) ?? "", extra };
    case "input_image": {
      const id = str(part.file_id);
      const url = str(part.image_url);
      const detail = readDetail(part.detail);
      if (id !== undefined) return { type: "image", source: { type: "file", id }, detail, extra };
      if (url !== undefined) return { type: "image", source: readUrl(url), detail, extra };
      break;
    }
    case "input_audio": {
      const audio = record(part.input_audio) ?? {};
      const format = str(audio.format) ?? "";
      return { type: "audio", data: str(audio.data) ?? "", format, extra };
    }
    case "input_file":
      return readFile(part);
  }
  return opaque("responses", part);
}

function readFile(part: Json): Part {
  const id = str(part.file_id);
  const url = str(part.file_url);
  const data = str(part.file_data);
  const slots = { filename: str(part.filename), extra: extraOf(part, KNOWN, "responses") };
  if (id !== undefined) return { type: "document", source: { type: "file", id }, ...slots };
  if (url !== undefined) return { type: "document", source: { type: "url", url }, ...slots };
  if (data === undefined) return opaque("responses", part);
  return { type: "document", source: readFileData(data), ...slots };
}

const KNOWN: ReadonlySet<string> = new Set([
  ...["type", "text", "logprobs", "refusal", "image_url", "file_id", "detail", "input_audio"],
  ...["file_url", "file_data", "filename"],
]);

/** Writes parts of the input. Texts of the assistant have a type of their own. */
export function writeParts(parts: readonly Part[], role: MessageItem["role"]): Json[] {
  return parts.flatMap((part) => {
    if (part.type === "opaque") return part.dialect === "responses" ? [part.value] : [];
    const written = writePart(part, role);
    return written ? [{ ...written, ...extraFor(part.extra, "responses") }] : [];
  });
}

function writePart(
  part: Exclude<Part, { type: "opaque" }>,
  role: MessageItem["role"],
): Json | undefined {
  const textType = role === "assistant" ? "output_text" : "input_text";
  switch (part.type) {
    case "text":
      return { type: textType, text: part.text, logprobs: part.logprobs };
    case "refusal":
      return { type: "refusal", refusal: part.text };
    case "audio":
      return { type: "input_audio", input_audio: { data: part.data, format: part.format } };
    case "image": {
      const { source, detail = "auto" } = part;
      if (source.type === "file") return { type: "input_image", file_id: source.id, detail };
      return { type: "input_image", image_url: writeUrl(source), detail };
    }
    case "document": {
      const { source, filename } = part;
      if (source.type === "text") return { type: textType, text: source.text };
      if (source.type === "file") return { type: "input_file", file_id: source.id, filename };
      if (source.type === "url") return { type: "input_file", file_url: source.url, filename };
      return { type: "input_file", file_data: writeUrl(source), filename };
    }
  }
}
