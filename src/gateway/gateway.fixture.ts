import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createParser } from "eventsource-parser";
import OpenAI from "openai";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import type { ManagedBy } from "./administration/administration.ts";
import { systemClock } from "./clock/clock.ts";
import { parseConfig } from "./config/read-config.ts";
import { openGateway, type ProcessParts, type RunningGateway } from "./gateway.ts";
import { PROVIDER_NAMES } from "./providers/providers.ts";
import { type Misbehaving, startMisbehaving } from "./providers/upstream/misbehaving.fixture.ts";
import { Conformance, describeApi } from "./server/conformance.fixture.ts";
import { newLogger } from "./telemetry/logger.ts";

const DATA = resolve(import.meta.dirname, "../../data");
/** A folder in memory, if there is one, because most tests need not wait for a disk. */
const MEMORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A gateway with its own port and database that runs until the end of the test. */
export interface TestGateway extends RunningGateway {
  readonly folder: string;
  /** Lines that were logged. */
  readonly lines: string[];
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  client(apiKey?: string): OpenAI;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // The type is any, because a test that expects the wrong shape fails anyway.
  readonly json: ReturnType<typeof JSON.parse>;
}

export function configOf(yaml: string, env: Record<string, string> = {}) {
  return parseConfig(yaml, "joust.yaml", env, PROVIDER_NAMES);
}

export function newFolder(): string {
  const folder = mkdtempSync(join(MEMORY, "joust-gateway-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface Start {
  readonly env?: Record<string, string>;
  readonly folder?: string;
  readonly web?: string;
  readonly processes?: ProcessParts;
  readonly managed?: ManagedBy;
}

/** Starts a gateway that runs until the end of the test. */
export async function startGateway(yaml: string, start: Start = {}): Promise<TestGateway> {
  const gateway = await open(yaml, { folder: newFolder(), ...start });
  onTestFinished(() => gateway.close());
  return gateway;
}

/** Starts one gateway for all tests of a file. */
export function sharedGateway(yaml: () => string | Promise<string>): () => TestGateway {
  let gateway: TestGateway | undefined;
  beforeAll(async () => {
    gateway = await open(await yaml(), { folder: mkdtempSync(join(MEMORY, "joust-gateway-")) });
  });
  afterAll(async () => {
    await gateway?.close();
    if (gateway) rmSync(gateway.folder, { recursive: true, force: true });
  });
  return () => gateway!;
}

/** Options of a gateway without its logger. */
export function optionsOf(
  yaml: string,
  { env = {}, folder, web = "", managed }: Start & { readonly folder: string },
) {
  const config = configOf(yaml, env);
  return {
    config: { ...config, server: { ...config.server, port: 0 } },
    env,
    ...(managed && { managed }),
    dataDir: folder,
    projectData: DATA,
    web,
    encoders: {
      models: { search: [], download: "", hubCache: "" },
      openai: { apiKey: undefined },
      embeddingCache: "",
    },
    folder,
    clock: systemClock,
    version: "0.0.0",
  };
}

let described: Promise<Conformance> | undefined;
/** Every JSON response in the tests must be as /openapi.json documents it. */
function conformance(): Promise<Conformance> {
  described ??= describeApi().then((description) => new Conformance(description));
  return described;
}

async function open(
  yaml: string,
  start: Start & { readonly folder: string },
): Promise<TestGateway> {
  const { folder } = start;
  const lines: string[] = [];
  const running = await openGateway({
    ...optionsOf(yaml, start),
    processes: start.processes,
    logger: newLogger("debug", { write: (line) => void lines.push(line) }),
  });
  let closing: Promise<void> | undefined;
  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${running.url}${path}`, init);
    const text = await response.text();
    const { status, headers } = response;
    if (headers.get("content-type")?.startsWith("application/json")) {
      const { method = "GET" } = init;
      const fault = (await conformance()).faultOf(method, path, status, JSON.parse(text));
      if (fault !== undefined) throw new Error(`${fault} in ${text}`);
    }
    return {
      status,
      headers,
      text,
      get json() {
        return JSON.parse(text);
      },
    };
  };
  return {
    ...running,
    close: () => {
      closing ??= running.close();
      return closing;
    },
    folder,
    lines,
    post: (path, body, headers = {}) =>
      ask(path, {
        method: "POST",
        headers,
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    get: (path, headers = {}) => ask(path, { headers }),
    client: (apiKey = "none") =>
      new OpenAI({ apiKey, baseURL: `${running.url}/v1`, maxRetries: 0 }),
  };
}

/** Starts an upstream that fails in the way that its address names. */
export async function startFaultyUpstream(): Promise<Misbehaving> {
  const host = await startMisbehaving();
  onTestFinished(() => host.close());
  return host;
}

export function chat(content: string, more: object = {}): object {
  return { model: "auto", messages: [{ role: "user", content }], ...more };
}

/** Events of a stream that was read to its end. */
export function eventsOf(text: string): ReturnType<typeof JSON.parse>[] {
  const events: ReturnType<typeof JSON.parse>[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data !== "[DONE]") events.push(JSON.parse(data));
    },
  });
  parser.feed(text);
  return events;
}

export const SANDBOX = "sandbox: {speed: 1000}";
