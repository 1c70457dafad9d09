/** Installations of clients, each in a folder of its own outside the repository. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const OUTPUT = { maxBuffer: 2 ** 26 };

export interface Environment {
  readonly name: string;
  readonly kind: "python" | "node";
  readonly packages: readonly string[];
}

/** Folder of an environment. Its packages are installed if the folder is new. */
export async function install(root: string, environment: Environment): Promise<string> {
  const { name, kind, packages } = environment;
  const folder = join(root, name);
  const marker = join(folder, "installed.txt");
  if (existsSync(marker)) return folder;
  process.stderr.write(`installing ${packages.join(" ")} into ${folder}\n`);
  await mkdir(folder, { recursive: true });
  if (kind === "python") {
    await run("python3", ["-m", "venv", folder]);
    const pip = ["-m", "pip", "install", "--quiet", "--upgrade", ...packages];
    await run(join(folder, "bin", "python"), pip, OUTPUT);
  } else {
    await writeFile(join(folder, "package.json"), `{"private": true, "type": "module"}`);
    const npm = ["install", "--no-audit", "--no-fund", "--silent"];
    await run("npm", [...npm, ...packages.map((name) => `${name}@latest`)], {
      ...OUTPUT,
      cwd: folder,
    });
  }
  await writeFile(marker, `${packages.join("\n")}\n`);
  return folder;
}

/** Versions of installed packages. */
export async function versionsOf(
  folder: string,
  kind: Environment["kind"],
  packages: readonly string[],
): Promise<string[]> {
  if (kind === "python") {
    const code =
      "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))";
    const { stdout } = await run(join(folder, "bin", "python"), ["-c", code, ...packages]);
    return stdout.trim().split(" ");
  }
  return Promise.all(
    packages.map(async (name) => {
      const file = join(folder, "node_modules", name, "package.json");
      return (JSON.parse(await readFile(file, "utf8")) as { version: string }).version;
    }),
  );
}
