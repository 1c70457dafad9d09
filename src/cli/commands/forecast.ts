import type { Command } from "commander";
import type { ForecastFlags } from "../forecast/forecast.ts";
import { newCommand } from "../shared/command.ts";
import { number } from "../shared/flags.ts";
import { withRouterFlags } from "../shared/store-flags.ts";

export function forecastCommand(): Command {
  const command = newCommand({
    name: "forecast",
    summary: "estimate how many votes it takes until routing pays",
    description:
      "Estimates after how many further votes, and for how many dollars, routing beats the best single model with a probability of 95%, at the trade-off of the router. It draws possible true qualities of the models from the posterior of the router, lets a copy of the router collect votes in each of these simulated futures, and reports the median with a 90% interval, or that the models do not differ enough. It writes nothing and calls no model.",
    examples: [
      ["Forecast from the log of a gateway", "joust forecast"],
      [
        "Forecast from an evaluation, before the first vote",
        "joust forecast --scores joust-evaluation/scores.csv",
      ],
      ["Forecast for quality alone", "joust forecast --tradeoff 0"],
    ],
  });
  return withRouterFlags(command)
    .option(
      "--config <file>",
      "configuration file (default: joust.yaml, if it exists, else the configuration in the store)",
    )
    .option("--scores <csv>", "told scores to start from, without the votes of the log")
    .option(
      "--tradeoff <t>",
      "cost_quality_tradeoff, 0 to 9.9 (default: that of the router)",
      number("--tradeoff", { from: 0, to: 9.9, example: 3 }),
    )
    .option(
      "--horizon <n>",
      "votes after which routing counts as not paying",
      number("--horizon", { from: 10, to: 1e6, whole: true, example: 3000 }),
      3000,
    )
    .option(
      "--futures <n>",
      "number of simulated futures",
      number("--futures", { from: 10, to: 10_000, whole: true, example: 60 }),
      60,
    )
    .option("--json", "print only JSON")
    .action(async (flags: ForecastFlags) => {
      const { runForecast } = await import("../forecast/forecast.ts");
      process.exitCode = await runForecast(flags);
    });
}
