import { type Command, Option } from "commander";
import { InputError } from "../../core/input/input-error.ts";
import type { ServeFlags } from "../serve/configuration.ts";
import { newCommand } from "../shared/command.ts";
import { folder, number, readNumber } from "../shared/flags.ts";
import { DEFAULT_DATA, type StoreFlags, withStore, withStoreFlags } from "../shared/store-flags.ts";

export function serveCommand(): Command {
  return newCommand({
    name: "serve",
    summary: "start the gateway",
    description:
      "Starts the gateway: one OpenAI-compatible endpoint that routes each request to a model, offers duels and learns from votes. Models come from joust.yaml or, without that file, from the configuration that was made on the page and the API keys in the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, ...). Without any of them it serves a sandbox of five simulated models.",
    examples: [
      ["Serve what joust.yaml or the environment provides", "joust serve"],
      ["Check a configuration without starting", "joust serve --config joust.yaml --check"],
      ["Check that every provider accepts its key and knows its model", "joust serve --probe"],
      [
        "Serve the models of two providers on another port",
        "OPENAI_API_KEY=sk-... ANTHROPIC_API_KEY=sk-... joust serve --port 9000",
      ],
    ],
  })
    .option("--config <file>", "configuration file (default: joust.yaml, if it exists)")
    .addOption(
      new Option(
        "--port <n>",
        "port to listen on; 0 lets the system choose (default: server.port of the configuration, else 8080)",
      )
        .env("PORT")
        .argParser((text) => readNumber("--port (or PORT)", text, PORTS)),
    )
    .option(
      "--host <address>",
      "address to listen on (default: server.host of the configuration, else 127.0.0.1)",
    )
    .option("--data <dir>", "folder of the database", folder("--data"), DEFAULT_DATA)
    .addOption(
      new Option(
        "--processes <n>",
        "processes that answer requests on one port; 1 serves in a single process (default: number of cores, at most 8)",
      )
        .env("JOUST_PROCESSES")
        .argParser((text) => readNumber("--processes (or JOUST_PROCESSES)", text, PROCESSES)),
    )
    .option("--check", "report all errors of the configuration and exit")
    .option(
      "--probe",
      "like --check, then send a short request to each deployment (costs a few tokens)",
    )
    .action(async (flags: ServeFlags) => {
      const { serve } = await import("../serve/serve.ts");
      process.exitCode = await serve(flags);
    });
}

const PROCESSES = { from: 1, to: 64, whole: true, example: "--processes 4" };
const PORTS = { from: 0, to: 65_535, whole: true, example: "--port 8080" };

interface ConfigFlags extends StoreFlags {
  readonly revision?: number;
}

export function configCommand(): Command {
  const command = newCommand({
    name: "config",
    summary: "print the configuration that is managed in the store",
    description:
      "Prints the configuration that was made on the page as a joust.yaml, with environment variables in place of secrets. It works while the gateway runs and also if the gateway does not start with this configuration.",
    examples: [
      ["Write the newest configuration to a file", "joust config > joust.yaml"],
      ["Print an earlier revision", "joust config --revision 3"],
    ],
  });
  return withStoreFlags(command)
    .option(
      "--revision <n>",
      "revision instead of the newest one",
      number("--revision", { from: 1, to: 1e9, whole: true, example: 3 }),
    )
    .action(async (flags: ConfigFlags) => {
      const stored = await withStore(flags, (store) => store.configuration(flags.revision));
      if (!stored) {
        throw new InputError(
          { file: "the store" },
          "has no configuration",
          "it is made on the page of a gateway that was started without joust.yaml",
        );
      }
      const { revision = stored.revision } = flags;
      if (stored.revision !== revision) {
        const hint = `the newest revision is ${stored.revision}`;
        throw new InputError({ file: "--revision" }, `there is no revision ${revision}`, hint);
      }
      const { yamlOf } = await import("../../gateway/administration/export.ts");
      process.stdout.write(yamlOf(JSON.parse(stored.document), stored.revision));
    });
}
