import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { DialectName } from "../../src/gateway/wire/dialect-names.ts";
import { CELLS, type Cell, IMAGE, MAX_TOKENS, promptOf, SYSTEM, UNKNOWN_MODEL } from "./cells.ts";
import { problemOf, type Returned } from "./checks.ts";
import { type Client, hasCell, needsStore } from "./roster.ts";
import { functionLoop } from "./upstream/loops.ts";
import { shellLoop } from "./upstream/shell-loop.ts";
import { CLIENT_KEY, type Upstream } from "./upstream/upstream.ts";

const SCRIPTS = fileURLToPath(new URL("./scripts", import.meta.url));
const DIALECTS: readonly DialectName[] = ["chat", "responses", "messages"];

/** The problem of each cell with each upstream; undefined where everything was right. */
export type Outcome = Partial<Record<Cell, Partial<Record<DialectName, string | undefined>>>>;

interface Places {
  /** Folder of the client's environment. */
  readonly folder: string;
  /** Address of a gateway with default settings. */
  readonly url: string;
  /** Address of a gateway that stores responses. */
  readonly storingUrl: string;
  readonly upstream: Upstream;
}

/** Runs all cells of a client with all three upstreams. */
export async function runClient(client: Client, places: Places): Promise<Outcome> {
  const { upstream } = places;
  upstream.received.length = 0;
  upstream.loop = client.isAgent ? shellLoop : functionLoop;
  const entries = DIALECTS.flatMap((dialect) =>
    CELLS.filter((cell) => hasCell(client, cell)).map((cell) => {
      const nonce = randomBytes(4).toString("hex");
      return { dialect, model: routerOf(dialect), cell, nonce, prompt: promptOf(cell, nonce) };
    }),
  );
  const storing = entries.filter(({ cell }) => needsStore(client, cell));
  const usual = entries.filter(({ cell }) => !needsStore(client, cell));
  const returned = new Map([
    ...(await runScript(client, places, places.url, usual)),
    ...(await runScript(client, places, places.storingUrl, storing)),
  ]);
  const outcome: Outcome = {};
  for (const { dialect, cell, nonce } of entries) {
    const problem = await problemOf({
      cell,
      nonce,
      upstream: dialect,
      returned: returned.get(nonce),
      received: upstream.received.filter(
        (received) =>
          received.nonce === nonce ||
          (received.problem !== undefined && JSON.stringify(received.body).includes(nonce)),
      ),
      isAgent: client.isAgent ?? false,
      givesObjects: client.givesObjects ?? false,
      unchecked: client.partial?.[cell]?.members ?? [],
    });
    const title = `${client.name} ${cell} with ${dialect}`;
    process.stderr.write(`${title}: ${problem ?? "ok"}\n`);
    outcome[cell] = { ...outcome[cell], [dialect]: problem };
  }
  return outcome;
}

/** Name of the router whose only model speaks the dialect. */
export function routerOf(dialect: DialectName): string {
  return `to-${dialect}`;
}

/** Runs the script of a client in its environment against the gateway at `url`. Returns the results by nonce. */
async function runScript(
  { name, script, environment }: Client,
  { folder, upstream }: Places,
  url: string,
  cells: readonly object[],
): Promise<Map<string, Returned>> {
  if (cells.length === 0) return new Map();
  const isPython = script.endsWith(".py");
  const work = join(folder, "scripts");
  await mkdir(work, { recursive: true });
  // Modules are found beside the script, so it runs inside the environment.
  const shared = isPython ? ["harness.py"] : ["harness.mjs", "commands.mjs", "schemas.mjs"];
  for (const file of [script, ...shared]) await copyFile(join(SCRIPTS, file), join(work, file));
  const plan = join(work, `${name}.json`);
  await writeFile(
    plan,
    JSON.stringify({
      client: name,
      url,
      key: CLIENT_KEY,
      system: SYSTEM,
      maxTokens: MAX_TOKENS,
      image: IMAGE,
      unknownModel: UNKNOWN_MODEL,
      begun: upstream.begunUrl,
      cells,
    }),
  );
  const program = environment.kind === "python" ? join(folder, "bin", "python") : process.execPath;
  const child = spawn(program, [join(work, script), plan], {
    cwd: work,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
  });
  const exit = once(child, "exit");
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-20_000);
  });
  const returned = new Map<string, Returned>();
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith("RESULT ")) continue;
    const { nonce, ...result } = JSON.parse(line.slice(7)) as Returned & { nonce: string };
    returned.set(nonce, result);
  }
  await exit;
  if (returned.size < cells.length || process.env.JOUST_CLIENTS_DEBUG) process.stderr.write(errors);
  return returned;
}
