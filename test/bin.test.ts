/** The `joust` command before its program is loaded: the folder for compiled code and the settings of Node. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

const BIN = resolve(import.meta.dirname, "../bin/joust.js");

describe("the folder for compiled code", () => {
  it("is created for the user alone, and used", () => {
    const cache = newFolder();
    expect(version(cache)).toMatch(/^\d+\.\d+\.\d+\n$/);
    const folder = join(cache, "joust", "compiled");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder, { recursive: true }).length).toBeGreaterThan(5);
  });

  const open = (folder: string) => {
    mkdirSync(folder);
    chmodSync(folder, 0o777);
  };
  const linked = (folder: string) => {
    mkdirSync(`${folder}-target`, { mode: 0o700 });
    symlinkSync(`${folder}-target`, folder);
  };
  const foreign = (folder: string) => {
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, 12345, 12345);
  };
  const unsafe: [string, (folder: string) => void][] = [
    ["others can write to it", open],
    ["it is a link", linked],
  ];
  // Only root can give a folder away.
  if (process.getuid?.() === 0) unsafe.push(["another user owns it", foreign]);

  it.each(unsafe)("is not used if %s", (_, make) => {
    const cache = newFolder();
    const folder = join(cache, "joust", "compiled");
    mkdirSync(join(cache, "joust"));
    make(folder);
    expect(version(cache)).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is not needed", () => {
    expect(version("/dev/null")).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

it("serve runs with its settings of Node, in the process that was started", async () => {
  const folder = newFolder();
  const child = spawn(process.execPath, ["--max-semi-space-size=8", BIN, ...SERVE], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS: `--import ${PRINT_SETTINGS}` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  const printed: string[] = [];
  for await (const piece of child.stdout.setEncoding("utf8")) {
    printed.push(piece as string);
    if (printed.join("").includes("Joust serves")) child.kill("SIGTERM");
  }
  const settings = printed
    .join("")
    .split("\n")
    .filter((line) => line.startsWith("["));
  expect(settings).toEqual([
    `["--max-semi-space-size=8"] ${child.pid}`,
    `["--v8-pool-size=1","--no-concurrent-recompilation","--max-semi-space-size=8"] ${child.pid}`,
  ]);
  expect(await exit).toEqual([0, null]);
});

const SERVE = ["serve", "--port", "0", "--processes", "1"];

const PRINT_SETTINGS = `data:text/javascript,${encodeURIComponent(
  "import{isMainThread}from'node:worker_threads';if(isMainThread)console.log(JSON.stringify(process.execArgv),process.pid)",
)}`;

function version(cache: string): string {
  const { NODE_COMPILE_CACHE: _, ...own } = process.env;
  const env = { ...own, XDG_CACHE_HOME: cache };
  const { stdout, stderr } = spawnSync(process.execPath, [BIN, "--version"], {
    env,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  return stdout;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "joust-bin-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
