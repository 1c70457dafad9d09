/**
 * Builds a Containerfile without a container engine: every stage is a folder, COPY copies
 * into it, and RUN runs in it. Paths in RUN must be relative. The users of the image do
 * not exist here, so `chown` does nothing.
 */
import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { basename, delimiter, join, posix } from "node:path";
import { promisify } from "node:util";
import { type Copy, DockerfileParser, type Instruction } from "dockerfile-ast";

export interface BuildOptions {
  readonly text: string;
  /** Copies what the context of the build holds to a folder. */
  readonly copyContext: (folder: string) => void;
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The last stage, and what its instructions declare: ENTRYPOINT, CMD and HEALTHCHECK in exec form. */
export interface Stage {
  readonly root: string;
  workdir: string;
  readonly env: Record<string, string | undefined>;
  readonly commands: Map<string, readonly string[]>;
}

export async function build({ text, copyContext, folder, env }: BuildOptions): Promise<Stage> {
  const context = join(folder, "context");
  copyContext(context);
  const tools = join(folder, "tools");
  mkdirSync(tools);
  writeFileSync(join(tools, "chown"), "#!/bin/sh\n");
  chmodSync(join(tools, "chown"), 0o755);

  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const words = instruction.getArguments().map((argument) => argument.getValue());
    const content = instruction.getArgumentsContent() ?? "";
    const keyword = instruction.getKeyword();
    if (keyword === "FROM") {
      const root = join(folder, `stage-${stages.size}`);
      const PATH = [tools, env.PATH].join(delimiter);
      stage = { root, workdir: "/", env: { ...env, PATH }, commands: new Map() };
      stages.set(words[2] ?? "last", stage);
    } else if (stage) {
      await perform(stage, keyword, words, content, sourceOf(instruction, stages, context));
    }
  }
  return stage!;
}

/** The folder that stands for / in the source paths of a COPY. */
function sourceOf(
  instruction: Instruction,
  stages: ReadonlyMap<string, Stage>,
  context: string,
): string {
  if (instruction.getKeyword() !== "COPY") return context;
  const from = (instruction as Copy).getFromFlag()?.getValue();
  return from ? stages.get(from)!.root : context;
}

async function perform(
  stage: Stage,
  keyword: string,
  words: readonly string[],
  content: string,
  source: string,
): Promise<void> {
  const inStage = (path: string) => join(stage.root, posix.resolve(stage.workdir, path));
  switch (keyword) {
    case "WORKDIR":
      stage.workdir = posix.resolve(stage.workdir, words[0]!);
      mkdirSync(inStage("."), { recursive: true });
      return;
    case "ENV":
      for (const word of words) {
        const [name, value] = word.split("=");
        stage.env[name!] = value!.startsWith("/") ? join(stage.root, value!) : value!;
      }
      return;
    case "COPY":
      // The contents of a folder, or a file, whose target is a folder if it ends with a slash.
      for (const path of words.slice(0, -1)) {
        const isFolder = words.at(-1)!.endsWith("/") && statSync(join(source, path)).isFile();
        const target = isFolder ? join(words.at(-1)!, basename(path)) : words.at(-1)!;
        cpSync(join(source, path), inStage(target), { recursive: true, verbatimSymlinks: true });
      }
      return;
    case "RUN":
      await run("sh", ["-c", content], { cwd: inStage("."), env: stage.env, maxBuffer: 2 ** 26 });
      return;
    case "ENTRYPOINT":
    case "CMD":
    case "HEALTHCHECK":
      stage.commands.set(keyword, JSON.parse(content.slice(content.indexOf("["))) as string[]);
      return;
    case "ARG":
    case "USER":
    case "VOLUME":
    case "EXPOSE":
      return;
    default:
      throw new Error(`the test does not know ${keyword}`);
  }
}

const run = promisify(execFile);
