import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../bin/joust.js", import.meta.url));

/** A gateway in its own process. */
export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  /** Everything that it has printed to stderr. */
  readonly errors: () => string;
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
  const command = [process.execPath, MAIN, "serve", "--port", "0", "--data", "."];
  const limited = ["sh", "-c", `ulimit -n ${descriptors} && exec "$@"`, "sh", ...command];
  const [program = "", ...args] = descriptors === undefined ? command : limited;
  const child = spawn(program, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const exit = once(child, "exit");
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    errors = (errors + piece).slice(-MOST_ERRORS);
  });
  const url = await urlOf(child);
  if (url === undefined) throw new Error(`the gateway in ${folder} did not start: ${errors}`);
  return {
    url,
    pid: child.pid!,
    errors: () => errors,
    signal: (signal) => void child.kill(signal),
    end: async (signal) => {
      child.kill(signal);
      await exit;
    },
  };
}

/** Characters of stderr that are kept. */
const MOST_ERRORS = 1_000_000;

/** The address that a gateway prints when it serves, or undefined if it ends before. */
async function urlOf({ stdout }: ChildProcess): Promise<string | undefined> {
  let output = "";
  for await (const piece of stdout!.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    output += piece;
    const url = /^Joust serves (http:\S+)/m.exec(output)?.[1];
    if (url === undefined) continue;
    stdout!.resume();
    return url;
  }
  return undefined;
}
