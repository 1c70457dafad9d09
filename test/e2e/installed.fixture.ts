/** The package as a user has it: packed, and installed into an empty folder without development dependencies. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./joust.fixture.ts";
import { type Served, served } from "./serve.fixture.ts";

const run = promisify(execFile);

export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class Installed {
  readonly folder = mkdtempSync(join(tmpdir(), "joust-package-"));
  /** Folder of the package in `folder`. */
  readonly package = join(this.folder, "node_modules", "joust");
  tarball = "";

  async create(): Promise<void> {
    await this.#pack();
    await this.#install();
  }

  /** Packs a copy of the checkout, because the build replaces files that other tests serve. */
  async #pack(): Promise<void> {
    const copy = mkdtempSync(join(tmpdir(), "joust-checkout-"));
    try {
      copyCheckout(copy);
      symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
      const { stdout } = await this.npm(
        "pack",
        copy,
        "--silent",
        "--pack-destination",
        this.folder,
      );
      this.tarball = join(this.folder, stdout.trim().split("\n").at(-1)!);
    } finally {
      rmSync(copy, { recursive: true });
    }
  }

  async #install(): Promise<void> {
    writeFileSync(join(this.folder, "package.json"), '{ "private": true, "type": "module" }\n');
    // .npmrc sets the date before which the installed versions must have been published.
    copyFileSync(join(ROOT, ".npmrc"), join(this.folder, ".npmrc"));
    await this.npm("install", "--prefer-offline", `./${basename(this.tarball)}`);
  }

  npm(...args: string[]): Promise<{ stdout: string }> {
    return run("npm", args, { cwd: this.folder, env: ENVIRONMENT });
  }

  /** Runs the command `joust` of the package. */
  joust(...args: string[]): Promise<Output> {
    return this.run(join(this.folder, "node_modules/.bin/joust"), ...args);
  }

  async run(file: string, ...args: string[]): Promise<Output> {
    const options = { cwd: this.folder, env: ENVIRONMENT, maxBuffer: 2 ** 26 };
    return run(file, args, options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      ({ code, stdout, stderr }: Output) => ({ code, stdout, stderr }),
    );
  }

  /** `npx joust serve`. `stop` ends it as Ctrl-C does, and returns the exit code. */
  async serve(...args: string[]): Promise<Served & { stop(): Promise<unknown> }> {
    const child = spawn("npx", ["joust", "serve", "--port", "0", ...args], {
      cwd: this.folder,
      env: ENVIRONMENT,
      stdio: ["ignore", "pipe", "inherit"],
      detached: true, // a process group of its own, as a shell gives it
    });
    const exit = once(child, "exit");
    const stop = async () => {
      process.kill(-child.pid!, "SIGINT");
      return (await exit)[0];
    };
    return { ...(await served(child)), stop };
  }

  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/**
 * The environment without the variables that npm sets for the script that runs the tests,
 * and with the Node of the tests first in PATH.
 */
export const ENVIRONMENT: Readonly<Record<string, string | undefined>> = Object.fromEntries([
  ...Object.entries(process.env).filter(
    ([name]) => !/^(npm_|INIT_CWD|FORCE_COLOR|NODE_(ENV|OPTIONS|COMPILE_CACHE)|JOUST_)/.test(name),
  ),
  ["PATH", [dirname(process.execPath), process.env.PATH].join(delimiter)],
]);

/** Copies the checkout without generated files. */
export function copyCheckout(folder: string): void {
  cpSync(ROOT, folder, { recursive: true, filter: (path) => !isGenerated(path) });
}

function isGenerated(path: string): boolean {
  const [first = "", second] = relative(ROOT, path).split(/[\\/]/);
  return (
    [".git", "node_modules", "dist", "out"].includes(first) ||
    (first === "web" && second === "dist")
  );
}
