import { type OfferedTool, Refused, type ToolCall } from "./conversation.ts";
import type { Loop } from "./loops.ts";

/** Tools of agents that run a command: the name and the arguments. */
const SHELLS: Readonly<Record<string, (command: string) => ToolCall["input"]>> = {
  Bash: (command) => ({ command, description: "Runs a command" }),
  exec_command: (cmd) => ({ cmd }),
  shell_command: (command) => ({ command }),
  shell: (command) => ({ command: ["sh", "-c", command] }),
};

/** The loop of agents that offer a shell. Each command contains the result of the one before. */
export const shellLoop: Loop = {
  steps: 3,

  checkTools: (tools) => void shellIn(tools),

  step(step, results, nonce, tools) {
    const last = results.at(-1) ?? "";
    const commands = [
      `echo Lima-${nonce}`,
      `echo 17 degrees in ${last}`,
      `awk 'BEGIN {print ${/-?\d+/.exec(last)?.[0]} * 9 / 5 + 32 " F"}'`,
    ];
    const name = shellIn(tools);
    return [{ id: `call_${nonce}_${step}`, name, input: SHELLS[name]!(commands[step]!) }];
  },

  resultIn(text, { id }) {
    const [, nonce, step] = id.split("_");
    const outputs = [`Lima-${nonce}`, `17 degrees in Lima-${nonce}`, "62.6 F"];
    const output = outputs[Number(step)]!;
    if (!text.includes(output)) throw new Refused(`${id} returned ${text}, not ${output}`);
    return output;
  },

  openImage(tools, nonce) {
    if (!tools.some(({ name }) => name === "Read")) return undefined;
    return { id: `call_${nonce}_image`, name: "Read", input: { file_path: "picture.png" } };
  },
};

function shellIn(tools: readonly OfferedTool[]): string {
  const name = tools.find((tool) => SHELLS[tool.name])?.name;
  if (name === undefined) throw new Refused(`no shell in ${tools.map((tool) => tool.name)}`);
  return name;
}
