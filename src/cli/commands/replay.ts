import type { Command } from "commander";
import type { ReplayFlags } from "../replay/replay.ts";
import { newCommand } from "../shared/command.ts";
import { number, time } from "../shared/flags.ts";
import { withRouterFlags } from "../shared/store-flags.ts";

export function replayCommand(): Command {
  const command = newCommand({
    name: "replay",
    summary: "learn again from the log, and estimate the value of other policies",
    description:
      "Learns again from the log of a router, beginning with its first vote. The result is the served posterior, bit for bit. The command prints the hash of this posterior, compares the posterior with the saved snapshot, prints the estimated utility of each model, and estimates the value of policies from the logged propensities. It writes nothing and encodes nothing.",
    examples: [
      ["See what was learned, and check the snapshot of the learner", "joust replay"],
      ["Estimate the value of another policy", "joust replay --policy joust:horizon=600"],
      [
        "Print the state of a past time for a program",
        "joust replay --until 2026-11-08T00:00:00Z --json",
      ],
    ],
    notes: NOTES,
  });
  return withRouterFlags(command)
    .option(
      "--policy <p>",
      "policy to replay with instead of the configured one: name:key=value or ./mine.ts",
    )
    .option("--until <time>", "ignore everything logged later", time("--until"))
    .option("--json", "print only JSON, including all numbers of the page")
    .option(
      "--hours <n>",
      "period of the page's counts, with --json",
      number("--hours", { from: 1, to: 8784, example: 24 }),
      24,
    )
    .option(
      "--config <file>",
      "configuration with the prices, with --json (default: joust.yaml, if it exists, else the configuration in the store)",
    )
    .action(async (flags: ReplayFlags) => {
      const { runReplay } = await import("../replay/replay.ts");
      process.exitCode = await runReplay(flags);
    });
}

const NOTES = `\
The value of a policy is the probability that its answer is preferred to the answer of a model drawn
at random from the candidates; 0.5 is no better than drawing. IPS and SNIPS weigh the logged votes by
their propensities. DR (doubly robust) predicts the votes with a model, corrects the prediction with the
weighted votes, and usually has the narrowest interval. The estimates require that explore is above 0,
and that people vote equally often whatever the query and the answers are. They apply to requests for
which a duel was possible. The other policy learns from the logged votes, not from the votes that its
own choices would have received.`;
