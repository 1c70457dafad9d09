import { Command } from "commander";

interface Entry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** All commands, in the order of the help; only the one that is run is loaded. */
const COMMANDS: readonly Entry[] = [
  {
    name: "serve",
    summary: "the gateway: an OpenAI-compatible endpoint that routes, duels and learns",
    load: async () => (await import("./serve.ts")).serveCommand(),
  },
  {
    name: "simulate",
    summary: "compare routing policies on a data set with simulated voters",
    load: async () => (await import("../simulate-command.ts")).simulateCommand(),
  },
  {
    name: "fit",
    summary: "fine-tune an encoder to your queries and embed your models: a calibration bundle",
    load: async () => (await import("./fit.ts")).fitCommand(),
  },
  {
    name: "reproduce",
    summary: "run the paper's experiments again and judge its claims",
    load: async () => (await import("../reproduce-command.ts")).reproduceCommand(),
  },
  {
    name: "work",
    summary: "one more machine for reproduce",
    load: async () => (await import("../work.ts")).workCommand(),
  },
  {
    name: "encode",
    summary: "turn queries into vectors, one a line",
    load: async () => (await import("./encode.ts")).encodeCommand(),
  },
  {
    name: "distill",
    summary: "make a static encoder, as the bundled one is, from a transformer",
    load: async () => (await import("./distill.ts")).distillCommand(),
  },
  {
    name: "models",
    summary: "list the encoders, or download one",
    load: async () => (await import("./models.ts")).modelsCommand(),
  },
  {
    name: "policies",
    summary: "list the routing policies and their options",
    load: async () => (await import("./policies.ts")).policiesCommand(),
  },
  {
    name: "replay",
    summary: "fold the log again: posterior, its hash, what another policy would be worth",
    load: async () => (await import("./replay.ts")).replayCommand(),
  },
  {
    name: "votes",
    summary: "votes of a live log in and out; freeze, roll back, forget a voter",
    load: async () => (await import("./votes.ts")).votesCommand(),
  },
  {
    name: "keys",
    summary: "API keys of the gateway: add, list, revoke, budget",
    load: async () => (await import("./keys.ts")).keysCommand(),
  },
];

/** Whole where the words name it, else no more than its line in the help. */
export function commandsFor(words: readonly string[]): Promise<Command[]> {
  return Promise.all(
    COMMANDS.map(async ({ name, summary, load }) => {
      const command = words.includes(name) ? await load() : new Command(name);
      return command.summary(summary);
    }),
  );
}
