import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Target } from "./gateway-driver.ts";
import { inFolder } from "./gateway-process.ts";
import { memory, threadSeconds } from "./process-stats.ts";
import { CACHE } from "./python.ts";

const run = promisify(execFile);

/** A server process for chat requests. */
export class Server implements Target {
  readonly name: string;
  readonly origin: string;
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #child: ChildProcess;

  private constructor(name: string, child: ChildProcess, port: number, target: Partial<Target>) {
    this.name = name;
    this.origin = `http://127.0.0.1:${port}`;
    this.model = target.model ?? "mock";
    this.headers = target.headers ?? {};
    this.#child = child;
  }

  /** Starts a process with the command for a free port; resolves when the server responds. */
  static async start(
    name: string,
    command: (port: number) => readonly [string, ...string[]],
    target: Partial<Target> = {},
    env: Readonly<Record<string, string>> = {},
  ): Promise<Server> {
    const port = await freePort();
    const [program, ...args] = command(port);
    const child = spawn(program, args, {
      stdio: "ignore",
      env: { ...process.env, ...env },
    });
    const server = new Server(name, child, port, target);
    for (let tries = 0; ; tries++) {
      const answer = await fetch(`${server.origin}/healthz`).catch(() => undefined);
      if (answer) return server;
      if (child.exitCode !== null || tries > 1800) {
        child.kill();
        throw new Error(
          `${name} did not start; run ${[program, ...args].join(" ")} to see the error`,
        );
      }
      await sleep(100);
    }
  }

  get pid(): number {
    return this.#child.pid!;
  }

  memory(): Promise<number> {
    return memory(this.pid);
  }

  cpuSeconds(): Promise<number> {
    return threadSeconds(this.pid);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const end = once(this.#child, "exit");
    this.#child.kill("SIGTERM");
    const late = setTimeout(() => this.#child.kill("SIGKILL"), 5000);
    await end;
    clearTimeout(late);
  }
}

/** Calls back with a temporary folder and an empty list of servers. Servers in the list are stopped afterwards. */
export function withServers<T>(
  work: (folder: string, servers: Server[]) => Promise<T>,
): Promise<T> {
  return inFolder(async (folder) => {
    const servers: Server[] = [];
    try {
      return await work(folder, servers);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

const NODE = process.execPath;

export function startMock(): Promise<Server> {
  const file = fileURLToPath(new URL("./gateway-mock.ts", import.meta.url));
  return Server.start("direct", (port) => [NODE, file, String(port)]);
}

export function startFloor(mock: Server): Promise<Server> {
  const file = fileURLToPath(new URL("./gateway-floor.ts", import.meta.url));
  const { port: upstream } = new URL(mock.origin);
  return Server.start("floor", (port) => [NODE, file, String(port), upstream]);
}

const CHECKOUT = fileURLToPath(new URL("..", import.meta.url));

interface JoustOptions {
  readonly name?: string;
  /** Another checkout, to compare two versions in one run. */
  readonly checkout?: string;
  readonly processes?: number;
  /** Model or router of the requests. */
  readonly model?: string;
}

/** Joust with a configuration, as `npm start` runs it, in one process unless the options say otherwise. */
export async function startJoust(
  yaml: string,
  folder: string,
  { name = "joust", checkout = CHECKOUT, processes = 1, model = "auto" }: JoustOptions = {},
): Promise<Server> {
  const file = join(folder, "joust.yaml");
  await mkdir(folder, { recursive: true });
  await writeFile(file, yaml);
  // Older checkouts always serve with one process.
  const hasProcesses = existsSync(join(checkout, "src/gateway/processes"));
  const command = (port: number): [string, ...string[]] => [
    NODE,
    ...[join(checkout, "bin/joust.js"), "serve"],
    ...["--config", file, "--data", folder, "--port", String(port)],
    ...(hasProcesses ? ["--processes", String(processes)] : []),
  ];
  return Server.start(name, command, { model });
}

/** Five models of an upstream in one router, with the static encoder, SQLite, metrics and the request log. */
export function fiveModels({ origin }: Target): string {
  const models = [1, 2, 3, 4, 5].map(
    (n) => `  model-${n}: {provider: mock, model: mock, price: {input: ${n}, output: ${4 * n}}}`,
  );
  return `providers:\n  mock: {url: "${origin}/v1", key: none}\nmodels:\n${models.join("\n")}\n`;
}

/**
 * Bifrost, a gateway in Go, from a binary that was built from its repository. Logs and stores are
 * off, and the prices that it needs to start are in a file, so that it sends nothing elsewhere.
 */
export async function startBifrost(mock: Server, folder: string, binary: string): Promise<Server> {
  const prices = join(folder, "prices.json");
  const none = join(folder, "none.json");
  const config = {
    $schema: "https://www.getbifrost.ai/schema",
    client: { enable_logging: false, drop_excess_requests: false, initial_pool_size: 300 },
    framework: {
      pricing: {
        pricing_url: `file://${prices}`,
        model_parameters_url: `file://${none}`,
        mcp_library_url: `file://${none}`,
        pricing_sync_interval: 86_400,
      },
    },
    providers: {
      openai: {
        keys: [{ name: "bench", value: "none", weight: 1, models: ["*"] }],
        network_config: { base_url: mock.origin, allow_private_network: true },
        concurrency_and_buffer_size: { concurrency: 1000, buffer_size: 5000 },
      },
    },
    config_store: { enabled: false },
    logs_store: { enabled: false },
  };
  await mkdir(folder, { recursive: true });
  const price = { provider: "openai", mode: "chat", input_cost_per_token: 1e-6 };
  await writeFile(prices, JSON.stringify({ mock: { ...price, output_cost_per_token: 4e-6 } }));
  await writeFile(none, "{}");
  await writeFile(join(folder, "config.json"), JSON.stringify(config));
  const flags = ["-app-dir", folder, "-host", "127.0.0.1", "-log-level", "error"];
  const command = (port: number): [string, ...string[]] => [
    binary,
    ...flags,
    "-port",
    String(port),
  ];
  return Server.start("bifrost", command, { model: "openai/mock" });
}

/** Portkey from npm; undefined, with a message on stderr, if it cannot be installed or started. */
export async function startPortkey(mock: Server): Promise<Server | undefined> {
  const folder = join(CACHE, "bench-portkey");
  const main = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js");
  try {
    if (!existsSync(main)) {
      process.stderr.write(`installing Portkey in ${folder} (only once)\n`);
      await mkdir(folder, { recursive: true });
      // With a newer @hono/node-server all streams fail with status 500.
      const overrides = { "@hono/node-server": "1.13.5" };
      await writeFile(
        join(folder, "package.json"),
        JSON.stringify({ dependencies: { "@portkey-ai/gateway": "1.15.2" }, overrides }),
      );
      await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: folder });
    }
    const headers = {
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `${mock.origin}/v1`,
      authorization: "Bearer none",
    };
    const command = (port: number): [string, ...string[]] => [
      NODE,
      main,
      `--port=${port}`,
      "--headless",
    ];
    return await Server.start("portkey", command, { headers }, { NODE_ENV: "production" });
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : error;
    process.stderr.write(`skipped: Portkey is not available (${reason})\n`);
    return undefined;
  }
}
