import { type Command, Option } from "commander";
import type { ServeFlags } from "../serve/configuration.ts";
import { newCommand } from "../shared/command.ts";
import { folder, readNumber } from "../shared/flags.ts";
import { DEFAULT_DATA } from "../shared/store-flags.ts";

export function serveCommand(): Command {
  return newCommand({
    name: "serve",
    summary: "start the gateway",
    description:
      "Starts the gateway: one OpenAI-compatible endpoint that routes each request to a model, offers duels and learns from votes. Models come from joust.yaml or, without that file, from the API keys in the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, ...). Without a key it serves a sandbox of five simulated models.",
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
        "processes that answer requests on one port; 1 serves without others (default: number of cores, at most 8)",
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
