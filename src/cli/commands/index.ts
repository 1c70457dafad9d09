import type { Command } from "commander";
import { backupCommand, restoreCommand, verifyCommand } from "./backup.ts";
import { catalogCommand } from "./catalog.ts";
import { dataCommand } from "./data.ts";
import { distillCommand } from "./distill.ts";
import { encodeCommand } from "./encode.ts";
import { evaluateCommand } from "./evaluate.ts";
import { fitCommand } from "./fit.ts";
import { forecastCommand } from "./forecast.ts";
import { keysCommand } from "./keys.ts";
import { modelsCommand } from "./models.ts";
import { policiesCommand } from "./policies.ts";
import { replayCommand } from "./replay.ts";
import { reproduceCommand } from "./reproduce.ts";
import { configCommand, serveCommand } from "./serve.ts";
import { simulateCommand } from "./simulate.ts";
import { votesCommand } from "./votes.ts";
import { workCommand } from "./work.ts";

/** All commands, grouped by their heading in the help and in the order of the help. */
export function allCommands(): Command[] {
  const groups = {
    "Gateway:": [
      serveCommand(),
      configCommand(),
      catalogCommand(),
      keysCommand(),
      evaluateCommand(),
      votesCommand(),
      replayCommand(),
      forecastCommand(),
      backupCommand(),
      restoreCommand(),
      verifyCommand(),
    ],
    "Encoders:": [fitCommand(), modelsCommand(), encodeCommand(), distillCommand()],
    "Research:": [
      simulateCommand(),
      policiesCommand(),
      dataCommand(),
      reproduceCommand(),
      workCommand(),
    ],
  };
  return Object.entries(groups).flatMap(([heading, commands]) =>
    commands.map((command) => command.helpGroup(heading)),
  );
}
