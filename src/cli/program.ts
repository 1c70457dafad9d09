/** The command line. bin/joust.js runs it by importing it. */
import { inspect } from "node:util";
import { Command, CommanderError } from "commander";
import { formatError } from "../core/errors/joust-error.ts";
import { InputError } from "../core/input/input-error.ts";
import { readVersion } from "../core/input/project.ts";
import { commandsFor } from "./commands/index.ts";
import { JOUST } from "./shared/invocation.ts";

// A reader that has seen enough (| head) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

const program = new Command("joust")
  .description("A self-hosted LLM router that learns from duels.")
  .version(readVersion(), "-V, --version", "print the version")
  .helpOption("-h, --help", "this text")
  .helpCommand("help [command]", "the help of a command");
const commands = await commandsFor(process.argv.slice(2));
for (const command of commands) program.addCommand(command);
prepare(program, JOUST);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
// A policy of the user's own may have left a timer behind: nothing waits for it but what was printed.
await Promise.all([process.stdout, process.stderr].map(written));
process.exit();

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((done) => stream.write("", () => done()));
}

/** Exit codes and words of our own where a command is called wrongly, for it and those below it. */
function prepare(command: Command, typed: string): void {
  command
    .exitOverride()
    .showHelpAfterError(`hint: ${typed} --help tells what it takes`)
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "joust: ")) });
  for (const below of command.commands) prepare(below, `${typed} ${below.name()}`);
}

/** Says what went wrong and returns the exit code: 2 where the user can mend it, 1 where we must. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof InputError) {
    process.stderr.write(`joust: ${formatError(error)}\n`);
    return 2;
  }
  process.stderr.write(`joust: ${inspect(error)}\n`);
  return 1;
}
