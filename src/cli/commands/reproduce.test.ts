import { expect, it } from "vitest";
import { FULL, Planner } from "../../lab/reproduce/planner.ts";
import { newPlanner } from "../../lab/reproduce/results.fixture.ts";
import { reproduceCommand } from "./reproduce.ts";

it.each([
  [[], { mmlu: 20, convergence: 100 }],
  [["--runs", "5"], { mmlu: 5, convergence: 5 }],
  [["--runs", "3,convergence=40"], { mmlu: 3, convergence: 40 }],
])("%j gives each experiment its number of runs", async (args, wanted) => {
  const command = reproduceCommand();
  command.parseOptions(args);
  const { data } = await newPlanner();
  const planner = new Planner(data, [], { ...FULL, ...command.getOptionValue("runs") }, 1);
  for (const [name, runs] of Object.entries(wanted)) expect(planner.runsOf(name)).toBe(runs);
});
