import { Command } from "commander";
import { number } from "../shared/flags.ts";
import { JOUST } from "../shared/invocation.ts";
import { DEFAULT_DATA } from "../shared/store-flags.ts";

export interface ServeFlags {
  readonly config?: string;
  readonly port?: number;
  readonly host?: string;
  readonly data: string;
  readonly check?: boolean;
}

export function serveCommand(): Command {
  return new Command("serve")
    .description(
      "Serves an OpenAI-compatible endpoint. Models come from joust.yaml, from keys in the environment\n(OPENAI_API_KEY, ANTHROPIC_API_KEY, ...), or, where there is neither, from a sandbox of ten.",
    )
    .option("--config <file>", "what to serve (default: joust.yaml, where there is one)")
    .option("--port <n>", "port to listen on (default: 8080)", number("--port", PORT))
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--data <dir>", "folder of the database", DEFAULT_DATA)
    .option("--check", "check the configuration and stop")
    .helpOption("-h, --help", "this text")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: ServeFlags) => {
      // All that serves is loaded only where it is needed.
      const { serve } = await import("../serve/serve.ts");
      process.exitCode = await serve(flags);
    });
}

const PORT = { from: 0, to: 65_535, whole: true, example: 8080 };

const EXAMPLES = `
Examples:
  ${JOUST} serve
  ${JOUST} serve --config joust.yaml --check
  OPENAI_API_KEY=sk-... ANTHROPIC_API_KEY=sk-... ${JOUST} serve --port 9000
`;
