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

/** The embedding of a text by the test server: the same for equal texts, and exact in float32. */
export function vectorOf(text: string): number[] {
  const codes = [...text].map((c) => c.codePointAt(0)!);
  const sum = codes.reduce((total, code) => total + code, 0);
  return [text.length, codes[0] ?? 0, sum % 4096, 0.5];
}

interface RequestBody {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions?: number;
  readonly encoding_format: string;
}

export type Handler = (
  body: RequestBody,
  response: ServerResponse,
  request: IncomingMessage,
) => unknown;

export const respond: Handler = ({ input }, response) => {
  const data = input.map((text, index) => ({ index, embedding: base64(vectorOf(text)) }));
  response.end(JSON.stringify({ object: "list", data }));
};

export function base64(values: readonly number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString("base64");
}

export const status =
  (code: number, message = "no", headers: Record<string, string> = {}): Handler =>
  (_, response) =>
    response.writeHead(code, headers).end(JSON.stringify({ error: { message } }));

/**
 * Makes an encoder with a test server. The handlers in `bad` answer the first requests,
 * one each; all later responses are correct.
 */
export async function setUp(bad: readonly Handler[] = [], options: Partial<OpenaiOptions> = {}) {
  const requests: RequestBody[] = [];
  const slept: number[] = [];
  const baseUrl = await serve(async (request, response) => {
    const body = JSON.parse(await bodyOf(request)) as RequestBody;
    requests.push(body);
    expect(request.method).toBe("POST");
    expect(request.url).toBe("/v1/embeddings");
    await (bad[requests.length - 1] ?? respond)(body, response, request);
  });
  const encoder = openaiEncoder({
    apiKey: KEY,
    baseUrl: `${baseUrl}/v1`,
    dimensions: DIMENSION,
    random: Random.seeded(1),
    sleep: async (milliseconds) => void slept.push(milliseconds),
    ...options,
  });
  return { encoder, requests, slept, texts: () => requests.flatMap(({ input }) => input) };
}

export const vectors = (...texts: string[]) =>
  texts.map((text) => Float64Array.from(vectorOf(text)));

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-openai-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
