/** The options --encoder and --models, which several commands have. */
import type { Command } from "commander";
import { folder } from "./flags.ts";

export const ENCODER_HELP =
  'encoder: a name that "joust models" lists, the folder of a model, or a bundle of "joust fit"; append :int8 to run a transformer in 8 bits, two to three times as fast and nearly as accurate';

/** Adds the option --models. */
export function withModelsFlag(command: Command): Command {
  return command.option(
    "--models <dir>",
    "folder of model folders to search first",
    folder("--models"),
  );
}
