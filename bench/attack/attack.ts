import { createConnection, type Socket } from "node:net";
import { post, send } from "../http.ts";

/** One way to harm the gateway, as the list of known holes describes it. */
export interface Attack {
  /** Number in the list of holes. */
  readonly item: string;
  readonly attack: string;
  /** Result when the hole was found. */
  readonly before: string;
  run(): Promise<Outcome>;
}

interface Outcome {
  /** Result today. */
  readonly now: string;
  /** Whether the gateway withstood the attack. */
  readonly held: boolean;
}

export const KEY = "mallory-0123456789abcdef";
export const OTHER_KEY = "another-0123456789abcdef";
const ADMIN_KEY = "operator-0123456789abcdef";
/** Keys of two ordinary clients and of the operator, as YAML. */
export const KEYS = `keys: {mallory: {key: ${KEY}}, another: {key: ${OTHER_KEY}}, operator: {key: ${ADMIN_KEY}, scopes: [admin]}}`;
export const SANDBOX = "sandbox: {speed: 1000}";

export function bearer(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` };
}

/** Header of the operator. */
export const ADMIN = bearer(ADMIN_KEY);

export function chat(content: string, more: object = {}): object {
  return { model: "auto", messages: [{ role: "user", content }], ...more };
}

interface Duel {
  readonly id: string;
  readonly token: string;
}

/** Asks for two answers, and returns the decision with the token for a vote. */
export async function duelOn(
  url: string,
  content: string,
  {
    key,
    options,
  }: { readonly key?: string | undefined; readonly options?: object | undefined } = {},
): Promise<Duel> {
  const body = chat(content, { joust: { duel: true, ...options } });
  const { text } = await post(`${url}/v1/chat/completions`, body, key ? bearer(key) : {});
  const { decision_id: id, vote_token: token } = JSON.parse(text).joust;
  return { id, token };
}

/** A connection whose other end does nothing by itself, not even read or close. */
export function hold(url: string, text: string, localAddress = "127.0.0.1"): Promise<Socket> {
  const socket = createConnection({
    port: Number(new URL(url).port),
    host: "127.0.0.1",
    localAddress,
    allowHalfOpen: true,
  });
  socket.pause();
  return new Promise((done) => {
    socket.on("connect", () => socket.write(text, () => done(socket)));
    socket.on("error", () => done(socket));
  });
}

export function releaseAll(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

/** A chat request as bytes. */
export function rawChat(body: object, key?: string): string {
  const text = JSON.stringify(body);
  const authorization = key === undefined ? "" : `authorization: Bearer ${key}\r\n`;
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n${authorization}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Sends a health check on a connection of its own. Undefined if there is no answer in 5 seconds. */
export async function health(url: string): Promise<number | undefined> {
  const startedAt = performance.now();
  const reply = await send(`${url}/healthz`, { from: "127.0.0.1", timeoutMs: 5000 }).catch(
    () => undefined,
  );
  return reply?.status === 200 ? performance.now() - startedAt : undefined;
}

/** Value of a metric without labels. */
export async function metric(url: string, name: string, headers = {}): Promise<number> {
  const { text } = await send(`${url}/metrics`, { headers });
  return Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1]);
}

export function milliseconds(value: number): string {
  return value >= 1000 ? `${(value / 1000).toFixed(1)} s` : `${value.toFixed(0)} ms`;
}
