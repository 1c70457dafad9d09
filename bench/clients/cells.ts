import { createHash } from "node:crypto";

/** The checks of each client: the columns of the table. */
export const CELLS = [
  "plain",
  "stream",
  "tools",
  "second",
  "structured",
  "image",
  "usage",
  "abort",
  "error",
] as const;
export type Cell = (typeof CELLS)[number];

export const CELL_TITLES: Readonly<Record<Cell, string>> = {
  plain: "plain",
  stream: "stream",
  tools: "tool loop",
  second: "second message",
  structured: "structured",
  image: "image",
  usage: "usage",
  abort: "abort",
  error: "error",
};

/** The system prompt that every client sends, if it lets the caller choose one. */
export const SYSTEM = "Answer in one sentence.";
export const MAX_TOKENS = 300;
/** A model that the gateway does not serve. */
export const UNKNOWN_MODEL = "no-such-model";

/** A user's prompt. The mark in it tells the upstream which answer belongs to it. */
export function promptOf(cell: Cell, nonce: string): string {
  return `${PROMPTS[cell]} [${cell} ${nonce}]`;
}

const PROMPTS: Readonly<Record<Cell, string>> = {
  plain: "Say the code.",
  stream: "Count slowly.",
  tools: "How warm is it where Ada lives, in Fahrenheit?",
  second: "Say the code, and say it again later.",
  structured: "Describe Ada.",
  image: "What is in this picture?",
  usage: "Say little.",
  abort: "Talk without an end.",
  error: "Say what is forbidden.",
};

const MARK = /\[(plain|stream|tools|second|structured|image|usage|abort|error) ([0-9a-f]{8})\]/;

/** The cell and the nonce that the texts of a user name, if there are any. */
export function markIn(texts: readonly string[]): { cell: Cell; nonce: string } | undefined {
  for (const text of texts) {
    const found = MARK.exec(text);
    if (found) return { cell: found[1] as Cell, nonce: found[2]! };
  }
  return undefined;
}

/** Parts of the streamed answer, one for each event. */
export function piecesOf(nonce: string): string[] {
  return ["One", " two", ' "three"', " four\n", "five", " ünf 🐎", ` ${nonce}`, "."];
}

export const plainText = (nonce: string) => `The code is ${nonce}.`;
export const secondText = (nonce: string) => `The code is still ${nonce}.`;
export const finalText = (nonce: string, degrees: string) => `It is ${degrees} there (${nonce}).`;
export const imageText = (nonce: string) => `A picture of ${IMAGE_SHA.slice(0, 8)} (${nonce}).`;
export const refusalText = (nonce: string) => `the prompt ${nonce} is not allowed here`;

/** The object that the answer of the cell "structured" contains. */
export const objectOf = (nonce: string) => ({ name: `Ada ${nonce}`, age: 36, tags: ["a", "b"] });

/** Tokens of every answer. The cached ones are part of the input. */
export const USAGE = { input: 120, cached: 48, output: 17 } as const;

/** A picture of 2 x 2 pixels. */
export const IMAGE =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFElEQVR4nGP4z8DAAMIM////ZwAAHu8E/KPItPcAAAAASUVORK5CYII=";
export const IMAGE_SHA = sha256(Buffer.from(IMAGE, "base64"));

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
