import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isRecord, type Json } from "../wire/json.ts";
import { COMPLETION, DONE_EVENT, EVENTS } from "./upstream/misbehaving.fixture.ts";

/**
 * A local upstream of models that refuse requests as real ones do: http://127.0.0.1:PORT/MODEL/v1. It records
 * the bodies.
 */
export interface Picky {
  readonly url: (model: PickyModel) => string;
  /** Bodies of the requests to a model, refused ones included. */
  readonly received: (model: PickyModel) => readonly Json[];
  readonly close: () => Promise<void>;
}

export type PickyModel = keyof typeof MODELS;

/** A refusal, or undefined if the model answers. */
type Check = (body: Json, bytes: number, betas: string) => RefusedResponse | undefined;
type RefusedResponse = readonly [status: number, body: Json];

export async function startPicky(): Promise<Picky> {
  const received: { readonly model: PickyModel; readonly body: Json }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const model = request.url!.split("/")[1] as PickyModel;
    const body = JSON.parse(text) as Json;
    received.push({ model, body });
    const betas = String(request.headers["anthropic-beta"] ?? "");
    const refused = MODELS[model](body, text.length, betas);
    if (refused) reply(response, refused[0], refused[1]);
    else if (ANTHROPIC.has(model)) answerMessages(response, body);
    else answerChat(response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: (model) => `http://127.0.0.1:${port}/${model}/v1`,
    received: (model) => received.filter((one) => one.model === model).map(({ body }) => body),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function reply(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function answerChat(response: ServerResponse, { stream }: Json): void {
  if (!stream) {
    response.writeHead(200, JSON_TYPE).end(COMPLETION);
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.end(EVENTS.join("") + DONE_EVENT);
}

const JSON_TYPE = { "content-type": "application/json" };

function answerMessages(response: ServerResponse, { stream, model }: Json): void {
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    content: [{ type: "text", text: "Hello!" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 2 },
  };
  if (!stream) {
    reply(response, 200, message);
    return;
  }
  const events: Json[] = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello!" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

const openai = (message: string, param: string | null, code: string | null): RefusedResponse => [
  400,
  { error: { message, type: "invalid_request_error", param, code } },
];

const messagesOf = ({ messages }: Json): Json[] =>
  Array.isArray(messages) ? messages.filter(isRecord) : [];

/** A reasoning model of OpenAI. It reports one parameter at a time. */
const gpt5: Check = (body) => {
  if ("max_tokens" in body) {
    return openai(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
      "unsupported_parameter",
    );
  }
  for (const [name, usual] of Object.entries({ temperature: 1, top_p: 1, presence_penalty: 0 })) {
    if (!(name in body) || body[name] === usual) continue;
    const problem = `Unsupported value: '${name}' does not support ${body[name]} with this model. Only the default (${usual}) value is supported.`;
    return openai(problem, name, "unsupported_value");
  }
  return undefined;
};

/** Members that Mistral's API knows. It lists all others in its refusal. */
const MISTRAL = new Set(
  "model messages temperature top_p max_tokens stream stop random_seed response_format tools tool_choice presence_penalty frequency_penalty n parallel_tool_calls prompt_mode safe_prompt".split(
    " ",
  ),
);

const mistral: Check = (body) => {
  const detail = Object.keys(body)
    .filter((name) => !MISTRAL.has(name))
    .map((name) => ({ type: "extra_forbidden", loc: ["body", name], msg: EXTRA }));
  for (const [i, message] of messagesOf(body).entries()) {
    if ("reasoning_content" in message) {
      const loc = ["body", "messages", i, "assistant", "reasoning_content"];
      detail.push({ type: "extra_forbidden", loc: loc as string[], msg: EXTRA });
    }
  }
  if (detail.length > 0) {
    return [422, { object: "error", message: { detail }, type: "invalid_request_error" }];
  }
  const isDeveloper = messagesOf(body).some(({ role }) => role === "developer");
  const problem =
    "Input should be 'system', 'user', 'assistant' or 'tool' (role 'developer' is not supported)";
  return isDeveloper ? openai(problem, "messages[0].role", "unsupported_value") : undefined;
};
const EXTRA = "Extra inputs are not permitted";

const CLAUDE = new Set(
  "model messages system max_tokens temperature top_p top_k stop_sequences stream tools tool_choice metadata thinking output_config service_tier".split(
    " ",
  ),
);

/** A model of Anthropic: at most 8,192 tokens of an answer, temperature or top_p but not both. */
const claude: Check = (body) => {
  const refuse = (message: string): RefusedResponse => [
    400,
    { type: "error", error: { type: "invalid_request_error", message } },
  ];
  const unknown = Object.keys(body).find((name) => !CLAUDE.has(name));
  if (unknown !== undefined) return refuse(`${unknown}: ${EXTRA}`);
  if (Number(body.max_tokens) > 8192) {
    return refuse(
      `max_tokens: ${body.max_tokens} > 8192, which is the maximum allowed number of output tokens for claude`,
    );
  }
  if ("temperature" in body && "top_p" in body) {
    return refuse("`temperature` and `top_p` cannot both be specified for this model.");
  }
  return undefined;
};

const anthropic = (message: string): RefusedResponse => [
  400,
  { type: "error", error: { type: "invalid_request_error", message } },
];

/** Claude Haiku 4.5: thinking with a budget, no efforts, structured outputs for closed objects. */
const haiku: Check = (body) => {
  const thinking = isRecord(body.thinking) ? body.thinking : { type: "disabled" };
  const config = isRecord(body.output_config) ? body.output_config : {};
  if (thinking.type === "adaptive") {
    return anthropic("adaptive thinking is not supported on this model");
  }
  if ("effort" in config) return anthropic("This model does not support the effort parameter.");
  if (thinking.type === "enabled") {
    const budget = Number(thinking.budget_tokens);
    if (!(budget >= 1024)) {
      return anthropic(
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
      );
    }
    if (budget >= Number(body.max_tokens)) {
      return anthropic("`max_tokens` must be greater than `thinking.budget_tokens`.");
    }
    const [block] = messagesOf(body).flatMap(({ role, content }) =>
      role === "assistant" && Array.isArray(content) ? content : [],
    );
    if (block?.type === "tool_use") {
      return anthropic(
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
      );
    }
  } else if (JSON.stringify(body.context_management ?? {}).includes("clear_thinking")) {
    return anthropic(
      "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive",
    );
  }
  const schema = JSON.stringify(config.format ?? {});
  if (/"(minimum|maximum)"/.test(schema)) {
    return anthropic(
      "output_config.format.schema: For 'integer' type, properties maximum, minimum are not supported",
    );
  }
  return schema.includes("LARGE")
    ? anthropic("The compiled grammar is too large, which would cause performance issues.")
    : undefined;
};

/** Claude Opus 4.8: adaptive thinking only, no temperature. */
const opus: Check = (body) => {
  const thinking = isRecord(body.thinking) ? body.thinking : {};
  if (thinking.type === "enabled") {
    return anthropic(
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    );
  }
  return "temperature" in body
    ? anthropic("`temperature` is deprecated for this model.")
    : undefined;
};

/** A Claude model of Vertex, or with "bedrock" in a beta feature of Bedrock: both know few features. */
const vertex: Check = (body, _, betas) => {
  const unknown = betas.split(",").filter((name) => name !== "" && !name.startsWith("known-"));
  if (unknown.some((name) => name.startsWith("bedrock"))) return anthropic("invalid beta flag");
  if (unknown.length > 0) {
    const names = unknown.map((name) => `\`${name}\``).join(", ");
    return anthropic(
      `Unexpected value(s) ${names} for the \`anthropic-beta\` header. Please consult our documentation at docs.anthropic.com or try again without the header.`,
    );
  }
  if ("context_management" in body) return anthropic(`context_management: ${EXTRA}`);
  const tools = Array.isArray(body.tools) ? body.tools : [];
  const deferred = tools.findIndex((tool) => "defer_loading" in tool);
  if (deferred >= 0) return anthropic(`tools.${deferred}.custom.defer_loading: ${EXTRA}`);
  return JSON.stringify(body).includes('"scope"')
    ? anthropic(`system.0.cache_control.ephemeral.scope: ${EXTRA}`)
    : undefined;
};

/** A model of vLLM with a context of 1,000 tokens, without tools. */
const small: Check = (body, bytes) => {
  if (Array.isArray(body.tools)) {
    const problem = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser';
    return [400, { object: "error", message: problem, code: 400 }];
  }
  const tokens = Math.ceil(bytes / 4);
  const message = `This model's maximum context length is 1000 tokens. However, you requested ${tokens} tokens (${tokens} in the messages, 0 in the completion).`;
  return tokens > 1000 ? [400, { object: "error", message, code: 400 }] : undefined;
};

/** A model of Gemini, which refuses a schema together with tools. */
const gemini: Check = (body) =>
  Array.isArray(body.tools) && "response_format" in body
    ? [
        400,
        {
          error: {
            code: 400,
            message:
              "Function calling with a response mime type: 'application/json' is unsupported",
            status: "INVALID_ARGUMENT",
          },
        },
      ]
    : undefined;

/** A model whose provider blocks a prompt with the word "weapon". */
const filtered: Check = (body) =>
  JSON.stringify(body).includes("weapon")
    ? openai("The prompt triggered the content management policy.", "prompt", "content_filter")
    : undefined;

/** A model whose account has no credit. */
const broke: Check = () => [
  429,
  {
    error: {
      message: "You exceeded your current quota",
      type: "insufficient_quota",
      code: "insufficient_quota",
    },
  },
];

/** A model that finds a fault in every request, in the shape of FastAPI. */
const fussy: Check = () => [
  422,
  {
    detail: [
      {
        type: "missing",
        loc: ["body", "messages", 0, "name"],
        msg: "Field required for KEY-OF-HOST",
      },
    ],
  },
];

const MODELS = {
  /** Answers every request. */
  easy: () => undefined,
  gpt5,
  mistral,
  claude,
  haiku,
  opus,
  vertex,
  small,
  gemini,
  filtered,
  broke,
  fussy,
} satisfies Record<string, Check>;

/** Models that speak Messages. */
const ANTHROPIC: ReadonlySet<PickyModel> = new Set(["claude", "haiku", "opus", "vertex"]);
