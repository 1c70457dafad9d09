import { Command } from "commander";
import { POLICIES } from "../bandit/policies/index.ts";
import type { PolicyKind } from "../bandit/policy.ts";
import { ROUTER_DEFAULTS } from "../router.ts";

export function policiesCommand(): Command {
  return new Command("policies")
    .summary("list the routing policies and their options")
    .description("Every policy that --policies knows, with its options and their defaults.")
    .option("--json", "print them as JSON")
    .helpOption("-h, --help", "this text")
    .addHelpText(
      "after",
      "\nExample:\n  joust simulate DATA --policies joust,fgts-cdb:steps=10:sd=2\n",
    )
    .action(({ json }: { json?: boolean }) => {
      process.stdout.write(json ? `${JSON.stringify(POLICIES.map(recordOf))}\n` : listing());
    });
}

function listing(): string {
  const every = `Every policy takes what the router does for it: ${optionsOf(ROUTER_DEFAULTS)}\n`;
  return `${POLICIES.map(paragraph).join("\n")}\n${every}`;
}

function paragraph({ name, summary, source, defaults }: PolicyKind): string {
  const lines = [
    `${name}: ${summary}`,
    ...(source === undefined ? [] : [`  after ${source}`]),
    ...(Object.keys(defaults).length > 0 ? [`  ${optionsOf(defaults)}`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

function optionsOf(defaults: object): string {
  return Object.entries(defaults)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ");
}

function recordOf({ name, summary, source, defaults }: PolicyKind) {
  return { name, summary, source, defaults };
}
