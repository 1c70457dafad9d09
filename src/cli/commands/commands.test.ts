import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import type { Command } from "commander";
import { expect, it } from "vitest";
import { DEFAULT_ENCODER } from "../../core/encoder/open-encoder.ts";
import { allCommands } from "./index.ts";

const COMMANDS = allCommands().flatMap(function all(command: Command): Command[] {
  return [command, ...command.commands.flatMap(all)];
});

it("every command has a summary, and a description in full sentences", () => {
  expect(COMMANDS.length).toBeGreaterThan(20);
  for (const command of COMMANDS) {
    const texts = [command.name(), command.summary(), command.description()];
    expect(texts).toEqual([
      command.name(),
      expect.stringMatching(/^[a-z].*[^.]$/),
      expect.stringMatching(/^[A-Z].*\.$/s),
    ]);
  }
});

it("every command shows examples, the most common call first", () => {
  for (const command of COMMANDS) {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    const name = [command.parent?.name() ?? "", command.name()].join(" ").trim();
    expect(help).toMatch(new RegExp(`\nExamples:\n {2}.*:\n {4}.*npx joust ${name}`));
  }
});

it("the help of --encoder names the default encoder", () => {
  const help = (name: string) =>
    COMMANDS.find((command) => command.name() === name)!.options.find(
      ({ long }) => long === "--encoder",
    )!;
  expect(help("encode").defaultValue).toBe(DEFAULT_ENCODER);
  for (const name of ["fit", "simulate"]) {
    expect(help(name).description).toContain(`(default: ${DEFAULT_ENCODER})`);
  }
});

/** Prints the number of loaded modules when the process ends. */
const COUNT = `data:text/javascript,import { registerHooks } from "node:module";
let count = 0;
registerHooks({ load: (url, context, next) => { count++; return next(url, context); } });
process.on("exit", () => console.error(count));`;

it("--help loads few modules, because a command imports the others when it runs", () => {
  const program = resolve(import.meta.dirname, "../program.ts");
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--no-warnings", "--import", COUNT, program, "--help"],
    { encoding: "utf8" },
  );
  expect(stdout).toContain("serve");
  expect(Number(stderr)).toBeGreaterThan(20);
  expect(Number(stderr)).toBeLessThan(100);
});
