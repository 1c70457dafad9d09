import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { start } from "../e2e/joust.fixture.ts";

/** The real program, on a port of its own, for all tests of a block. */
export interface Served {
  readonly url: string;
  /** Where its data is. */
  readonly folder: string;
  stop(): Promise<void>;
  /** Again on the same port, with the same data. */
  again(): Promise<void>;
}

/** `config`: a joust.yaml, made when it is needed. `fill` may write into the data folder first. */
export function serve(
  config: () => object = () => ({}),
  fill: (folder: string) => Promise<void> = async () => {},
): Served {
  const folder = mkdtempSync(join(tmpdir(), "joust-browser-"));
  let running: Awaited<ReturnType<typeof run>> | undefined;
  const stop = async () => {
    running?.child.kill("SIGTERM");
    await running?.child.end;
  };
  const again = async () => {
    running = await run(folder, running ? Number(new URL(running.url).port) : 0);
  };
  beforeAll(async () => {
    await fill(folder);
    writeFileSync(join(folder, "joust.yaml"), JSON.stringify(config()));
    await again();
  });
  afterAll(async () => {
    running?.child.kill("SIGKILL");
    await running?.child.end;
    rmSync(folder, { recursive: true });
  });
  return {
    get url() {
      return running!.url;
    },
    folder,
    stop,
    again,
  };
}

async function run(folder: string, port: number) {
  const child = start(["serve", "--port", String(port), "--data", folder], folder);
  let said = "";
  while (!said.includes("/v1/feedback")) {
    const [piece] = await Promise.race([once(child.stdout!, "data"), child.end.then(() => [])]);
    if (piece === undefined) throw new Error((await child.end).stderr);
    said += piece;
  }
  const address = /^Joust serves (http:\S+)/.exec(said)![1]!;
  return { child, url: address.replace("127.0.0.1", "localhost") };
}

/** What the interface says, beside the page. */
export async function getJson<T>(url: string, path: string): Promise<T> {
  const response = await fetch(url + path);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
