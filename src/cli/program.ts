/** The command line. bin/joust.js runs it by importing it. */
import { inspect } from "node:util";
import { Command, CommanderError } from "commander";
import { formatError, JoustError } from "../core/errors/joust-error.ts";
import { readVersion } from "../core/input/project.ts";
import { allCommands } from "./commands/index.ts";
import { JOUST } from "./shared/command.ts";
import { withoutPasswords } from "./shared/passwords.ts";

// A closed pipe, as of `| head`, ends the program without an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

// If the reader of stderr is gone, the program still has to end in an orderly way.
process.stderr.on("error", () => {});
hidePasswords();

const program = new Command("joust")
  .description(
    "Joust is a self-hosted LLM router that learns from duels. Start with joust serve, which needs no configuration.",
  )
  .version(readVersion(), "-V, --version", "print the version")
  .helpOption("-h, --help", "print this help")
  .commandsGroup("Help:")
  .helpCommand("help [command]", "print the help of a command")
  .configureHelp({ subcommandTerm: (command) => command.name() })
  .addHelpText("after", `\n${JOUST} COMMAND --help describes a command and shows examples.`);
for (const command of allCommands()) program.addCommand(command);
configure(program, JOUST);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
// Exits even if a policy of the user has left a timer, but only after everything is printed.
await Promise.all([process.stdout, process.stderr].map(flushed));
process.exit();

/** Removes passwords of addresses from the list of processes, which every user of the machine can read. */
function hidePasswords(): void {
  const args = process.argv.slice(2);
  const shown = args.map(withoutPasswords);
  if (shown.join() !== args.join()) process.title = ["joust", ...shown].join(" ");
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((done) => stream.write("", () => done()));
}

/** Makes a command and its subcommands throw errors of usage, and print them like all other errors. */
function configure(command: Command, typed: string): void {
  command
    .on("beforeHelp", () => refuseUnknown(command))
    .exitOverride()
    .showHelpAfterError(`hint: run ${typed} --help`)
    .configureOutput({
      outputError: (text, write) => write(withoutPasswords(text.replace(/^error: /, "joust: "))),
    });
  for (const subcommand of command.commands) {
    configure(subcommand, `${typed} ${subcommand.name()}`);
  }
}

/** Throws the error of an unknown subcommand, for which commander prints the help if --help follows. */
function refuseUnknown(command: Command): void {
  const [name = "-"] = command.args.filter((arg) => arg !== "help");
  const names = command.commands.map((subcommand) => subcommand.name());
  if (names.length === 0 || name.startsWith("-") || names.includes(name)) return;
  command.parse([name], { from: "user" });
}

/** Prints an error and returns the exit code: 2 if the user can fix it, 1 if it is a defect of the program. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof JoustError) {
    process.stderr.write(withoutPasswords(`joust: ${formatError(error)}\n`));
    return 2;
  }
  process.stderr.write(withoutPasswords(`joust: ${inspect(error)}\n`));
  return 1;
}
