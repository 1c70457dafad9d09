import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../bin/joust.js", import.meta.url));

/** A gateway as a process of its own. */
interface Served {
  readonly url: string;
  end(signal: NodeJS.Signals): Promise<void>;
}

export async function serve(folder: string): Promise<Served> {
  const child = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--data", "."], {
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exit = once(child, "exit");
  let said = "";
  for await (const piece of child.stdout.setEncoding("utf8")) {
    said += piece;
    const url = /^Joust serves (http:\S+)/.exec(said)?.[1];
    if (url === undefined) continue;
    const end = async (signal: NodeJS.Signals) => {
      child.kill(signal);
      await exit;
    };
    return { url, end };
  }
  throw new Error(`the gateway does not start in ${folder}`);
}
