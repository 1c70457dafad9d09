import { join, relative } from "node:path";
import { Command } from "commander";
import { PACKAGE_ROOT } from "../../core/input/project.ts";

/** The texts of a command. Every file in commands/ exports a function that creates one command from them. */
export interface CommandTexts {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The effect of the command, in full sentences. */
  readonly description: string;
  /** Calls of the command, the most common first. */
  readonly examples?: readonly Example[];
  /** Background that is printed after the options. */
  readonly notes?: string;
}

/** The purpose of a call and the lines to type, which begin with "joust". data/ is the folder of the project's data. */
type Example = readonly [purpose: string, ...lines: readonly string[]];

/** Creates a command. The caller adds options and an action, which imports heavy modules only when it runs. */
export function newCommand(texts: CommandTexts): Command {
  const { name, summary, description, examples = [], notes = "" } = texts;
  const after = [notes, examplesText(examples)].filter((text) => text !== "");
  return new Command(name)
    .summary(summary)
    .description(description)
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", after.map((text) => `\n${text}`).join("\n"));
}

function examplesText(examples: readonly Example[]): string {
  if (examples.length === 0) return "";
  const parts = examples.map(([purpose, ...lines]) => {
    return [`  ${purpose}:`, ...lines.map((line) => `    ${typed(line)}`)].join("\n");
  });
  return `Examples:\n${parts.join("\n")}`;
}

/** Replaces "joust" by the command that a user types, and "data/" by the path of the project's data folder. */
function typed(line: string): string {
  return line
    .replaceAll(/(?<=^| )joust (?=[a-z])/g, `${JOUST} `)
    .replaceAll(/(?<= )data(?=\/)/g, dataFolder());
}

function dataFolder(): string {
  const folder = join(PACKAGE_ROOT, "data");
  const path = relative(process.cwd(), folder);
  return path.startsWith("..") ? folder : path;
}

/** How a user runs this command, in a checkout and where the package is installed. */
export const JOUST = "npx joust";
