import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Target } from "./gateway-driver.ts";
import { CACHE, pythonWith } from "./python.ts";

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

  /** Resident memory in MB. */
  async memory(): Promise<number> {
    const { stdout } = await run("ps", ["-o", "rss=", "-p", String(this.#child.pid)]);
    return (Number(stdout) * 1024) / 1e6;
  }

  /** CPU seconds that all threads have used so far, to the nanosecond; NaN on systems without /proc. */
  async cpuSeconds(): Promise<number> {
    const tasks = `/proc/${this.#child.pid}/task`;
    const threads = await readdir(tasks).catch(() => []);
    if (threads.length === 0) return Number.NaN;
    const used = threads.map(async (thread) => {
      const stat = await readFile(`${tasks}/${thread}/schedstat`, "utf8").catch(() => "0");
      return Number.parseInt(stat, 10);
    });
    return (await Promise.all(used)).reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e9;
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

/**
 * Joust as `npm start` runs it: five models, one router, static encoder, SQLite, metrics, request log.
 * `flags` are options of Node; `checkout` is another checkout, to compare two versions in one run.
 */
export async function startJoust(
  mock: Server,
  folder: string,
  flags: readonly string[] = [],
  processes = 1,
  { name = "joust", checkout = CHECKOUT }: { name?: string; checkout?: string } = {},
): Promise<Server> {
  const main = join(checkout, "bin/joust.js");
  // Older checkouts always serve with one process.
  const hasProcesses = existsSync(join(checkout, "src/gateway/processes"));
  const models = [1, 2, 3, 4, 5].map(
    (n) => `  model-${n}: {provider: mock, model: mock, price: {input: ${n}, output: ${4 * n}}}`,
  );
  const file = join(folder, "joust.yaml");
  await mkdir(folder, { recursive: true });
  await writeFile(
    file,
    `providers:\n  mock: {url: "${mock.origin}/v1", key: none}\nmodels:\n${models.join("\n")}\n`,
  );
  const command = (port: number): [string, ...string[]] => [
    NODE,
    ...flags,
    main,
    "serve",
    "--config",
    file,
    "--data",
    folder,
    "--port",
    String(port),
    ...(hasProcesses ? ["--processes", String(processes)] : []),
  ];
  return Server.start(name, command, { model: "auto" });
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
    process.stderr.write(`skipped: Portkey is not available (${reason(error)})\n`);
    return undefined;
  }
}

/** LiteLLM's proxy, if it is available. It is slower without httptools and opentelemetry. */
export async function startLiteLlm(mock: Server): Promise<Server | undefined> {
  const packages = ["litellm[proxy]==1.106.2", "httptools", "opentelemetry-api"];
  const python = await pythonWith("bench-litellm", packages, "import litellm, httptools");
  if (!python) return undefined;
  const config = join(dirname(dirname(python)), `bench-${process.pid}.yaml`);
  await writeFile(
    config,
    `model_list:
  - model_name: mock
    litellm_params: {model: openai/mock, api_base: "${mock.origin}/v1", api_key: none}
general_settings: {master_key: sk-bench}
litellm_settings: {telemetry: false}
`,
  );
  const command = (port: number): [string, ...string[]] => [
    join(dirname(python), "litellm"),
    "--config",
    config,
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
  ];
  const headers = { authorization: "Bearer sk-bench" };
  try {
    const env = { LITELLM_LOG: "ERROR", LITELLM_LOCAL_MODEL_COST_MAP: "True" };
    return await Server.start("litellm", command, { headers }, env);
  } catch (error) {
    process.stderr.write(`skipped: LiteLLM is not available (${reason(error)})\n`);
    return undefined;
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message.split("\n")[0]! : String(error);
}
