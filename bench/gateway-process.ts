import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../bin/joust.js", import.meta.url));

/** The settings of Node with which bin/joust.js would restart itself. */
const SETTINGS = ["--max-semi-space-size=8", "--v8-pool-size=1", "--no-concurrent-recompilation"];

/** A gateway in its own process. */
export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  /** Everything that it has printed, its log included. */
  readonly output: () => string;
  signal(signal: NodeJS.Signals): void;
  end(signal: NodeJS.Signals): Promise<void>;
}

interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Largest number of open files of the process. */
  readonly descriptors?: number;
}

/** Starts a gateway whose configuration and data are in a folder. */
export async function startGateway(
  folder: string,
  { env = {}, descriptors }: StartOptions = {},
): Promise<GatewayProcess> {
  const options = ["--port", "0", "--data", ".", "--processes", "1"];
  const command = [process.execPath, ...SETTINGS, MAIN, "serve", ...options];
  const limited = ["sh", "-c", `ulimit -n ${descriptors} && exec "$@"`, "sh", ...command];
  const [program = "", ...args] = descriptors === undefined ? command : limited;
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const exit = once(child, "exit");
  let output = "";
  const url = await new Promise<string | undefined>((found) => {
    const read = (piece: string) => {
      output = (output + piece).slice(-MOST_OUTPUT);
      const served = /^Joust serves (http:\S+)/m.exec(output)?.[1];
      if (served !== undefined) found(served);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", read);
    child.on("close", () => found(undefined));
  });
  if (url === undefined) throw new Error(`the gateway in ${folder} did not start: ${output}`);
  return {
    url,
    pid: child.pid!,
    output: () => output,
    signal: (signal) => void child.kill(signal),
    end: async (signal) => {
      child.kill(signal);
      await exit;
    },
  };
}

/** Characters of the output that are kept. */
const MOST_OUTPUT = 4_000_000;

/** Calls back with a temporary folder, which is deleted afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "joust-bench-"));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts a gateway with a configuration, calls back with it and ends it. */
export function withGateway<T>(
  yaml: string,
  work: (gateway: GatewayProcess, folder: string) => Promise<T>,
  options: StartOptions = {},
): Promise<T> {
  return inFolder(async (folder) => {
    await writeFile(join(folder, "joust.yaml"), yaml);
    const gateway = await startGateway(folder, options);
    try {
      return await work(gateway, folder);
    } finally {
      await gateway.end("SIGKILL");
    }
  });
}
