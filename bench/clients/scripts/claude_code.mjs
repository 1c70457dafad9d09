import { join } from "node:path";
import { command, failure, HOME, IMAGE_FILE, interrupt, SCHEMA } from "./commands.mjs";
import { PLAN, run } from "./harness.mjs";

const PROGRAM = join(import.meta.dirname, "../node_modules/.bin/claude");
const ENV = {
  ANTHROPIC_BASE_URL: PLAN.url,
  ANTHROPIC_API_KEY: PLAN.key,
  CLAUDE_CONFIG_DIR: HOME,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  CLAUDE_CODE_MAX_RETRIES: "0",
};
/** The names that routers have as aliases. */
const nameOf = (model) => model.replace(/^to-/, "claude-").concat("-5");

const args = (model, prompt, more = []) => [
  ...["-p", prompt, "--model", nameOf(model), "--append-system-prompt", PLAN.system],
  ...["--output-format", "stream-json", "--verbose", "--include-partial-messages", ...more],
];
async function ask(model, prompt, more) {
  const done = await command(PROGRAM, args(model, prompt, more), ENV);
  const result = done.events.find(({ type }) => type === "result");
  if (!result || result.is_error) throw new Error(done.text.slice(-1500));
  return { ...done, result };
}
const TOOLS = ["--allowedTools", "Bash", "Read"];

await run({
  plain: async (model, prompt) => ({ text: (await ask(model, prompt)).result.result }),

  async stream(model, prompt) {
    const { events } = await ask(model, prompt);
    const pieces = events.flatMap(({ type, event }) =>
      type === "stream_event" && event.delta?.type === "text_delta" ? [event.delta.text] : [],
    );
    return { text: pieces.join(""), pieces: pieces.length };
  },

  tools: async (model, prompt) => ({ text: (await ask(model, prompt, TOOLS)).result.result }),

  async structured(model, prompt) {
    const schema = ["--json-schema", JSON.stringify(SCHEMA)];
    return { object: (await ask(model, prompt, schema)).result.structured_output };
  },

  async image(model, prompt) {
    const { result } = await ask(model, `${prompt} Read ${IMAGE_FILE}`, TOOLS);
    return { text: result.result };
  },

  async usage(model, prompt) {
    const { usage } = (await ask(model, prompt)).result;
    const cached = usage.cache_read_input_tokens;
    return { stream: { input: usage.input_tokens + cached, cached, output: usage.output_tokens } };
  },

  abort: (model, prompt, nonce) => interrupt(PROGRAM, args(model, prompt), ENV, nonce),

  error: async (model, prompt) => ({
    streamed: failure(await command(PROGRAM, args(model, prompt), ENV)),
    unknown: failure(await command(PROGRAM, args(PLAN.unknownModel, prompt), ENV)),
  }),
});
