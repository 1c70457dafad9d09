import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { JoustClient } from "../../src/client.ts";
import { type StartedServer, startServer } from "../e2e/serve.fixture.ts";

/** A gateway process on its own port, shared by the tests of a block. */
export interface Served {
  readonly url: string;
  /** Reads and writes through the API, without the page. */
  readonly client: JoustClient;
  /** The data folder. */
  readonly folder: string;
  stop(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>;
}

/**
 * Starts a gateway before the tests. `config` is the content of joust.yaml; without a file, the configuration is
 * managed in the store. `fill` may write into the data folder first.
 */
export function serve(
  config: (() => object) | "store" = () => ({}),
  fill: (folder: string) => Promise<void> = async () => {},
  variables: () => Readonly<Record<string, string>> = () => ({}),
): Served {
  const folder = mkdtempSync(join(tmpdir(), "joust-browser-"));
  let running: StartedServer | undefined;
  const end = async (signal: NodeJS.Signals) => {
    running?.process.kill(signal);
    await running?.process.end;
  };
  const restart = async () => {
    const port = running ? new URL(running.url).port : "0";
    running = await startServer(["--port", port, "--data", folder], folder, [], variables());
  };
  beforeAll(async () => {
    await fill(folder);
    if (config !== "store") writeFileSync(join(folder, "joust.yaml"), JSON.stringify(config()));
    await restart();
  });
  afterAll(async () => {
    await end("SIGKILL");
    rmSync(folder, { recursive: true });
  });
  const url = () => running!.url.replace("127.0.0.1", "localhost");
  return {
    get url() {
      return url();
    },
    get client() {
      return new JoustClient({ baseUrl: url() });
    },
    folder,
    stop: () => end("SIGTERM"),
    restart,
  };
}
