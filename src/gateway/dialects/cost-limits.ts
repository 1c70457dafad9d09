import { isRecord, type Json } from "../wire/json.ts";
import { answerLimits } from "./answer-limits.ts";
import { bodyOf } from "./body.ts";
import type { CostLimits, ModelRequest } from "./dialect.ts";

/** The limits of a request of any endpoint. A request that was read by another thread has them already. */
export function costLimits({
  endpoint,
  members,
  costLimits: known,
}: Pick<ModelRequest, "endpoint" | "members" | "costLimits">): CostLimits {
  if (known) return known;
  const limits = answerLimits(members);
  const bytes = members.close - members.open;
  const listed = { completions: "prompt", embeddings: "input" }[endpoint as string];
  if (listed !== undefined) {
    const list = members.value(listed);
    const { valueStart = 0, valueEnd = 0 } = members.find(listed) ?? {};
    const prompts = isListOfPrompts(list) ? list.length : 1;
    const text = bytes - (valueEnd - valueStart) + tokensIn(list);
    const isFull = Array.isArray(list) && list.some(isRecord); // images, for example
    return { ...limits, prompts, prompt: { text, images: 0, isFull }, thinkingTokens: 0 };
  }
  const body = bodyOf(members);
  const found = { bytes: 0, images: 0, isFull: false };
  for (const name of ["messages", "input"]) findAttachments(body[name], found);
  // A conversation or prompt that the provider keeps may have any length.
  const isKept = endpoint === "responses" && [body.conversation, body.prompt].some(Boolean);
  const { images, isFull } = found;
  const prompt = { text: bytes - found.bytes, images, isFull: isFull || isKept };
  return { ...limits, prompts: 1, prompt, thinkingTokens: thinkingTokens(endpoint, body) };
}

/** Whether a member holds several prompts. A list of numbers is one prompt, given as tokens. */
function isListOfPrompts(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0 && typeof value[0] !== "number";
}

/** The most tokens of a prompt that is a text, a list of token numbers or a list of these. */
function tokensIn(value: unknown): number {
  if (typeof value === "number") return 1;
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + tokensIn(one), 0);
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

/** Images, and bytes of attached data, which are not text. */
interface Found {
  bytes: number;
  images: number;
  /** Whether there is a sound, video or document. */
  isFull: boolean;
}

/** Finds the attachments in a list of messages, items or parts. A part without the type of an attachment is text. */
function findAttachments(list: unknown, found: Found): void {
  if (!Array.isArray(list)) return;
  for (const part of list) {
    if (!isRecord(part)) continue;
    const { type, source, content, output } = part;
    const isText = isRecord(source) && (source.type === "text" || source.type === "content");
    if (IMAGE.test(String(type))) found.images++;
    else if ((OTHER.test(String(type)) && !isText) || isRecord(part.audio)) found.isFull = true;
    if ((IMAGE.test(String(type)) || OTHER.test(String(type))) && !isText) {
      found.bytes += dataBytes(part);
    }
    findAttachments(content, found);
    findAttachments(Array.isArray(output) ? output : [output], found);
    if (isRecord(source)) findAttachments(source.content, found);
  }
}

/** Types of parts in all dialects. */
const IMAGE = /^(input_image|image|image_url|computer_screenshot)$/;
const OTHER = /^(input_)?(audio|video|file|document|media|container_upload)(_url)?$/;

/** Bytes of the data of an attachment. */
function dataBytes({ image_url: image, input_audio: audio, file, source, ...part }: Json): number {
  const data = [
    ...[isRecord(image) ? image.url : image, isRecord(audio) && audio.data, part.file_data],
    ...[isRecord(file) && file.file_data, isRecord(source) && source.data],
  ];
  return data.reduce((sum: number, one) => sum + (typeof one === "string" ? one.length : 0), 0);
}

/**
 * The most that the translation to Messages adds to the limit of an answer for a thinking budget. In Messages itself,
 * and with an effort in place of a budget, the limit includes what the model thinks.
 */
function thinkingTokens(endpoint: string, { thinking, thinking_budget }: Json): number {
  if (endpoint === "messages") return 0;
  const budgets = [isRecord(thinking) ? thinking.budget_tokens : undefined, thinking_budget];
  const most = Math.max(0, ...budgets.filter((one) => typeof one === "number"));
  return most > 0 ? Math.max(1024, most) : 0;
}
