import { resolve } from "node:path";
import { hashEncoder } from "../../core/encoder/hash.ts";
import { systemClock } from "../clock/clock.ts";
import type { UpstreamRequest } from "../providers/upstream/upstream.ts";
import type { Price } from "../providers/upstream/usage.ts";
import { paperProfile } from "./profile.fixture.ts";
import { NOTE, tokensOf } from "./reply.ts";
import { readSandbox, Sandbox } from "./sandbox.ts";

/** A sandbox with the project's data that answers immediately, and functions that call it. */

export const DATA = resolve(import.meta.dirname, "../../../data");

const data = await readSandbox(DATA, hashEncoder);
export const { questions } = data;

export const open = (settings = {}) =>
  new Sandbox(data, { seed: 1, speed: Infinity, clock: systemClock, ...settings });
export const sandbox = open();
/** A sandbox of the paper's ten models, with the qualities and costs of the paper's table. */
export const paperSandbox = new Sandbox(
  { ...data, profile: paperProfile },
  { seed: 1, speed: Infinity, clock: systemClock },
);

/**
 * Price of an upstream that reports costs of its own, which depend on the category only: at this price the
 * project's questions have the mean cost of the paper's table.
 */
export function paperPrice(model: string): Price {
  const { all } = questions;
  const tokens = all.map(({ query, answer }) => tokensOf(`${query} ${answer} ${NOTE}`).length);
  const costs = all.map(({ category }) => paperProfile.cost(model, category));
  const price = (1e6 * sum(costs)) / sum(tokens);
  return { input: price, output: price };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

export const never = new AbortController().signal;

export function requestOf(
  chat: object,
  endpoint: UpstreamRequest["endpoint"] = "chat/completions",
): UpstreamRequest {
  const { model = "summit-pro", stream = false } = chat as { model?: string; stream?: boolean };
  return { endpoint, body: Buffer.from(JSON.stringify(chat)), model, stream };
}

export async function call(
  chat: object,
  endpoint?: UpstreamRequest["endpoint"],
  from: Sandbox = sandbox,
) {
  const answer = await from.call(requestOf(chat, endpoint), never);
  const pieces: string[] = [];
  for await (const piece of answer.body) pieces.push(Buffer.from(piece).toString());
  return { pieces, text: pieces.join(""), end: await answer.end };
}

export const user = (content: unknown) => ({ messages: [{ role: "user", content }] });

export const ask = async (chat: object, from: Sandbox = sandbox) =>
  JSON.parse((await call(chat, undefined, from)).text);
