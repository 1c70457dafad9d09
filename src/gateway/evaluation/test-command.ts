import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { invalidValue } from "../../core/errors/joust-error.ts";
import { codeOf } from "../../core/input/system-error.ts";
import type { EvaluationPrompt } from "./prompt.ts";

export interface TestCommand {
  /** Program and arguments. No shell reads them, so the answer cannot become a command. */
  readonly words: readonly [string, ...string[]];
  readonly timeoutMs: number;
}

/**
 * Runs a test of an answer. The answer is on standard input and in the file that `{file}` in an
 * argument stands for; the prompt is in the file that `{prompt}` stands for. Returns whether the
 * program ended with the exit code 0 in time.
 */
export async function runTest(
  { words, timeoutMs }: TestCommand,
  prompt: EvaluationPrompt,
  answer: string,
): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), "joust-test-"));
  try {
    const files = { file: join(folder, "answer"), prompt: join(folder, "prompt") };
    await writeFile(files.file, answer);
    await writeFile(files.prompt, prompt.text);
    const [program, ...args] = words.map((word) =>
      word.replaceAll("{file}", files.file).replaceAll("{prompt}", files.prompt),
    );
    // The program leads a process group of its own, so that a timeout also ends what it has started.
    const child = spawn(program!, args, {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
      env: { ...process.env, JOUST_PROMPT_ID: prompt.id },
    });
    const timer = setTimeout(() => endGroup(child.pid), timeoutMs);
    child.stdin.on("error", () => {}); // a program need not read its input
    child.stdin.end(answer);
    try {
      const [code] = await once(child, "close");
      return code === 0;
    } catch (error) {
      throw invalidValue(
        `the test command ${program} cannot be run (${codeOf(error) || error})`,
        "correct --test; the program is called directly, without a shell",
      );
    } finally {
      clearTimeout(timer);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has ended by itself.
  }
}
