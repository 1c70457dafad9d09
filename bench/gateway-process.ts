import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../bin/joust.js", import.meta.url));

/** A gateway in its own process. */
interface GatewayProcess {
  readonly url: string;
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Starts a gateway whose configuration and data are in a folder. */
export async function startGateway(folder: string): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [MAIN, "serve", "--port", "0", "--data", "."], {
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const exit = once(child, "exit");
  let output = "";
  const { stdout } = child;
  for await (const piece of stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    output += piece;
    const url = /^Joust serves (http:\S+)/.exec(output)?.[1];
    if (url === undefined) continue;
    stdout.resume();
    const end = async (signal: NodeJS.Signals) => {
      child.kill(signal);
      await exit;
    };
    return { url, end };
  }
  throw new Error(`the gateway in ${folder} did not start`);
}
