import type { Command } from "commander";
import { newCommand } from "../shared/command.ts";

interface PoliciesFlags {
  readonly json?: boolean | undefined;
}

export function policiesCommand(): Command {
  return newCommand({
    name: "policies",
    summary: "list the routing policies and their options",
    description:
      "Lists the policies that simulate, replay and joust.yaml accept, each with its options: default, meaning and range.",
    examples: [
      ["List all policies", "joust policies"],
      ["Describe one policy", "joust policies fgts-cdb"],
      ["Simulate with options", "joust simulate DATA --policies joust,fgts-cdb:steps=10:sd=2"],
    ],
  })
    .argument("[names]", "policies, or files with policies of your own (default: all policies)")
    .option("--json", "print JSON")
    .action(async (name: string | undefined, { json }: PoliciesFlags) => {
      const { findPolicies, policiesRecord, policiesText } = await import(
        "../policies/policies.ts"
      );
      const policies = await findPolicies(name);
      process.stdout.write(
        json ? `${JSON.stringify(policiesRecord(policies))}\n` : policiesText(policies),
      );
    });
}
