/** Runs command-line clients. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PLAN } from "./harness.mjs";

/** An empty folder in which the client works, and a home without settings. */
export const WORK = mkdtempSync(join(tmpdir(), "joust-client-"));
export const HOME = mkdtempSync(join(tmpdir(), "joust-home-"));
export const IMAGE_FILE = join(WORK, "picture.png");
writeFileSync(IMAGE_FILE, Buffer.from(PLAN.image, "base64"));

/** Schema of the object in the cell "structured". */
export const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string" },
    age: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["name", "age", "tags"],
  additionalProperties: false,
};

/** Runs a command. `events` are the lines of JSON that it prints. */
export async function command(program, args, env) {
  const child = start(program, args, env);
  const exit = once(child, "exit");
  const events = [];
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (piece) => {
    text += piece;
  });
  for await (const line of createInterface(child.stdout)) {
    text += `${line}\n`;
    if (line.startsWith("{")) events.push(JSON.parse(line));
  }
  const [code] = await exit;
  return { code, events, text };
}

/** Interrupts a command when the upstream has sent the first piece of its answer. */
export async function interrupt(program, args, env, nonce) {
  const child = start(program, args, env);
  const exit = once(child, "exit");
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  const text = await (await fetch(`${PLAN.begun}/${nonce}`)).text();
  child.kill("SIGINT");
  await exit;
  return { text };
}

function start(program, args, env) {
  return spawn(program, args, {
    cwd: WORK,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME, ...env },
  });
}

/** The error that a command printed, with the status in it. */
export function failure({ code, text }) {
  if (code === 0 && !/error/i.test(text)) throw new Error(`the command succeeded: ${text}`);
  return { status: Number(/\b(4\d\d|5\d\d)\b/.exec(text)?.[1]), message: text };
}
