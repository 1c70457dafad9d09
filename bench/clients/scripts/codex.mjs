import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { command, failure, HOME, IMAGE_FILE, interrupt, SCHEMA, WORK } from "./commands.mjs";
import { PLAN, run } from "./harness.mjs";

const PROGRAM = join(import.meta.dirname, "../node_modules/.bin/codex");
const ENV = { JOUST_KEY: PLAN.key };
mkdirSync(join(HOME, ".codex"), { recursive: true });
writeFileSync(
  join(HOME, ".codex", "config.toml"),
  `model_provider = "joust"
[model_providers.joust]
name = "Joust"
base_url = "${PLAN.url}/v1"
wire_api = "responses"
env_key = "JOUST_KEY"
request_max_retries = 0
stream_max_retries = 0
`,
);
const SCHEMA_FILE = join(WORK, "schema.json");
writeFileSync(SCHEMA_FILE, JSON.stringify(SCHEMA));

const args = (model, prompt, more = []) => [
  ...["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
  ...["-m", model, ...more, "--", prompt],
];
async function ask(model, prompt, more) {
  const done = await command(PROGRAM, args(model, prompt, more), ENV);
  if (done.code !== 0) throw new Error(done.text.slice(-1500));
  const message = done.events.findLast(({ item }) => item?.type === "agent_message");
  return { ...done, text: message?.item.text };
}

await run({
  plain: async (model, prompt) => ({ text: (await ask(model, prompt)).text }),
  stream: async (model, prompt) => ({ text: (await ask(model, prompt)).text }),
  tools: async (model, prompt) => ({ text: (await ask(model, prompt)).text }),

  async structured(model, prompt) {
    const { text } = await ask(model, prompt, ["--output-schema", SCHEMA_FILE]);
    return { object: JSON.parse(text) };
  },

  image: async (model, prompt) => ({ text: (await ask(model, prompt, ["-i", IMAGE_FILE])).text }),

  async usage(model, prompt) {
    const { events } = await ask(model, prompt);
    const { usage } = events.find(({ type }) => type === "turn.completed");
    const { input_tokens: input, cached_input_tokens: cached, output_tokens: output } = usage;
    return { stream: { input, cached, output } };
  },

  abort: (model, prompt, nonce) => interrupt(PROGRAM, args(model, prompt), ENV, nonce),

  error: async (model, prompt) => ({
    streamed: failure(await command(PROGRAM, args(model, prompt), ENV)),
    unknown: failure(await command(PROGRAM, args(PLAN.unknownModel, prompt), ENV)),
  }),
});
