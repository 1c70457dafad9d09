import { mkdtempSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { Random } from "../../random/random.ts";
import { bodyOf, serve } from "../download/http-server.fixture.ts";
import { type OpenaiOptions, openaiEncoder } from "./openai.ts";

export const KEY = "sk-test-not-a-real-key";
const DIMENSION = 4;

/** What the server makes of a text: equal texts, equal vectors, exact in float32. */
export function vectorOf(text: string): number[] {
  const codes = [...text].map((c) => c.codePointAt(0)!);
  const sum = codes.reduce((total, code) => total + code, 0);
  return [text.length, codes[0] ?? 0, sum % 4096, 0.5];
}

interface Asked {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions?: number;
  readonly encoding_format: string;
}

export type Answer = (asked: Asked, response: ServerResponse, request: IncomingMessage) => unknown;

export const answer: Answer = ({ input }, response) => {
  const data = input.map((text, index) => ({ index, embedding: base64(vectorOf(text)) }));
  response.end(JSON.stringify({ object: "list", data }));
};

export function base64(values: readonly number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString("base64");
}

export const status =
  (code: number, message = "no", headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end(JSON.stringify({ error: { message } }));

/** An encoder of a server that gives these answers in turn, then good ones. */
export async function setUp(bad: readonly Answer[] = [], options: Partial<OpenaiOptions> = {}) {
  const asked: Asked[] = [];
  const slept: number[] = [];
  const baseUrl = await serve(async (request, response) => {
    const body = JSON.parse(await bodyOf(request)) as Asked;
    asked.push(body);
    expect(request.method).toBe("POST");
    expect(request.url).toBe("/v1/embeddings");
    await (bad[asked.length - 1] ?? answer)(body, response, request);
  });
  const encoder = openaiEncoder({
    apiKey: KEY,
    baseUrl: `${baseUrl}/v1`,
    dimensions: DIMENSION,
    random: Random.seeded(1),
    sleep: async (milliseconds) => void slept.push(milliseconds),
    ...options,
  });
  return { encoder, asked, slept, texts: () => asked.flatMap(({ input }) => input) };
}

export const vectors = (...texts: string[]) =>
  texts.map((text) => Float64Array.from(vectorOf(text)));

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-openai-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
