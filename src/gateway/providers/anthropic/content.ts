import { isRecord, type Json } from "../../wire/json-value.ts";
import { Unsupported } from "./unsupported.ts";

/** Translates the content of a message to Anthropic's blocks. Empty texts, which it refuses, are left out. */
export function blocksOf(content: unknown, field: string): Json[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) {
    throw new Unsupported(`${field} is neither text nor a list of parts`);
  }
  return content.flatMap((part, i) => {
    const place = `${field}[${i}]`;
    if (!isRecord(part)) throw new Unsupported(`${place} is not an object`);
    const block = blockOf(part, place);
    if (!block) return [];
    // Marks for the prompt cache are passed on.
    return [part.cache_control ? { ...block, cache_control: part.cache_control } : block];
  });
}

function blockOf(part: Json, place: string): Json | undefined {
  switch (part.type) {
    case "text":
    case "refusal": {
      const text = String(part.text ?? part.refusal ?? "");
      return text === "" ? undefined : { type: "text", text };
    }
    case "image_url": {
      const image = part.image_url;
      const url = isRecord(image) ? image.url : image;
      if (typeof url !== "string") throw new Unsupported(`${place}.image_url has no url`);
      return { type: "image", source: sourceOf(url) };
    }
    case "file": {
      const file = isRecord(part.file) ? part.file : {};
      if (typeof file.file_data !== "string") {
        throw new Unsupported(
          `${place}.file has no file_data, and a file id of another host is not known here`,
        );
      }
      return { type: "document", source: sourceOf(file.file_data) };
    }
    // Anthropic's own types are passed on.
    case "image":
    case "document":
      return part;
    default:
      throw new Unsupported(`${place} is of type ${JSON.stringify(part.type)}`);
  }
}

/** Source of a data URL (data:image/png;base64,...) or of the address of an image. */
function sourceOf(url: string): Json {
  const comma = url.startsWith("data:") ? url.indexOf(",") : -1;
  if (comma < 0) return { type: "url", url };
  const [mediaType = "", ...rest] = url.slice("data:".length, comma).split(";");
  if (!rest.includes("base64")) throw new Unsupported("a data URL is not in base64");
  return { type: "base64", media_type: mediaType, data: url.slice(comma + 1) };
}
