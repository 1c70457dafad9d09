import type { DialectName } from "../../src/gateway/wire/dialect-names.ts";
import type { Cell } from "./cells.ts";
import type { Environment } from "./environments.ts";

interface Unchecked {
  readonly members: readonly string[];
  readonly reason: string;
}

export interface Client {
  /** Name on the command line. */
  readonly name: string;
  readonly title: string;
  readonly dialect: DialectName;
  readonly environment: Environment;
  /** Packages whose versions the table shows. */
  readonly versions: readonly string[];
  /** File in `scripts` that runs the cells. */
  readonly script: string;
  /** Whether the client sends prompts and requests of its own. */
  readonly isAgent?: boolean;
  /** Whether the client gives objects where others give texts. */
  readonly givesObjects?: boolean;
  /** A remark about the whole row. */
  readonly note?: string;
  /**
   * The cell "second": the client refers to answers that the gateway has stored, or its script does not have the cell. By
   * default, the client sends the earlier messages again.
   */
  readonly second?: "stored" | "none";
  /** Cells that the client itself cannot do, with the reason. */
  readonly impossible?: Partial<Record<Cell, string>>;
  /** Members of a cell's result that the client itself gets wrong or does not give, with the reason. */
  readonly partial?: Partial<Record<Cell, Unchecked>>;
}

const python = (name: string, ...packages: string[]): Environment => ({
  name,
  kind: "python",
  packages,
});

const node = (name: string, ...packages: string[]): Environment => ({
  name,
  kind: "node",
  packages,
});

const openaiPython = python("openai-python", "openai", "pydantic");
const anthropicPython = python("anthropic-python", "anthropic", "pydantic");
const openaiNode = node("openai-node", "openai", "zod");
const anthropicNode = node("anthropic-js", "@anthropic-ai/sdk", "zod");
const aiProviders = ["@ai-sdk/openai", "@ai-sdk/anthropic", "@ai-sdk/openai-compatible"];
const aiSdk = node("ai-sdk", "ai", ...aiProviders, "zod");
const langchainPython = python(
  ...(["langchain-python", "langchain", "langchain-openai", "langchain-anthropic"] as const),
);
const langchainJs = node(
  ...["langchain-js", "langchain", "@langchain/core"],
  ...["@langchain/openai", "@langchain/anthropic", "zod"],
);
const langgraph = python("langgraph", "langgraph", "langchain-openai", "langchain-anthropic");
const llamaindex = python(
  ...["llamaindex", "llama-index-core", "llama-index-llms-openai"],
  "llama-index-llms-openai-like",
);
const openaiAgents = python("openai-agents", "openai-agents");
const pydanticAi = python("pydantic-ai", "pydantic-ai-slim[openai,anthropic]");
const instructor = python("instructor", "instructor", "anthropic");
const litellm = python("litellm", "litellm", "mcp");

const NO_STREAM_USAGE = "Without the usage of streams, which the client does not return.";
const ALWAYS_STREAMS = "The client always streams.";
const instructorLimits = {
  givesObjects: true,
  second: "none",
  note: "instructor asks for an object in every cell.",
  impossible: {
    tools: "instructor runs no tools; its only tool is the object.",
    abort:
      "instructor has no way to end a stream: its partial objects come in a `ListResponse` without `close`.",
  },
  partial: { usage: { members: ["stream"], reason: NO_STREAM_USAGE } },
} as const;

/** The clients, in the order of the table. */
export const ROSTER: readonly Client[] = [
  {
    name: "openai-python-chat",
    title: "openai (Python), chat",
    dialect: "chat",
    environment: openaiPython,
    versions: ["openai"],
    script: "openai_chat.py",
  },
  {
    name: "openai-python-responses",
    title: "openai (Python), Responses",
    dialect: "responses",
    environment: openaiPython,
    versions: ["openai"],
    script: "openai_responses.py",
    second: "stored",
  },
  {
    name: "openai-node-chat",
    title: "openai (Node), chat",
    dialect: "chat",
    environment: openaiNode,
    versions: ["openai"],
    script: "openai_chat.mjs",
  },
  {
    name: "openai-node-responses",
    title: "openai (Node), Responses",
    dialect: "responses",
    environment: openaiNode,
    versions: ["openai"],
    script: "openai_responses.mjs",
    second: "stored",
  },
  {
    name: "anthropic-python",
    title: "anthropic (Python)",
    dialect: "messages",
    environment: anthropicPython,
    versions: ["anthropic"],
    script: "anthropic_messages.py",
  },
  {
    name: "anthropic-js",
    title: "@anthropic-ai/sdk",
    dialect: "messages",
    environment: anthropicNode,
    versions: ["@anthropic-ai/sdk"],
    script: "anthropic_messages.mjs",
  },
  {
    name: "ai-sdk-openai",
    title: "ai with @ai-sdk/openai, Responses",
    dialect: "responses",
    environment: aiSdk,
    versions: ["ai", "@ai-sdk/openai"],
    script: "ai_sdk.mjs",
    second: "stored",
  },
  {
    name: "ai-sdk-openai-chat",
    title: "ai with @ai-sdk/openai, chat",
    dialect: "chat",
    environment: aiSdk,
    versions: ["ai", "@ai-sdk/openai"],
    script: "ai_sdk.mjs",
  },
  {
    name: "ai-sdk-anthropic",
    title: "ai with @ai-sdk/anthropic",
    dialect: "messages",
    environment: aiSdk,
    versions: ["ai", "@ai-sdk/anthropic"],
    script: "ai_sdk.mjs",
  },
  {
    name: "ai-sdk-openai-compatible",
    title: "ai with @ai-sdk/openai-compatible",
    dialect: "chat",
    environment: aiSdk,
    versions: ["ai", "@ai-sdk/openai-compatible"],
    script: "ai_sdk.mjs",
  },
  {
    name: "langchain-python-chat",
    title: "LangChain (Python), ChatOpenAI, chat",
    dialect: "chat",
    environment: langchainPython,
    versions: ["langchain", "langchain-openai"],
    script: "langchain_chat.py",
  },
  {
    name: "langchain-python-responses",
    title: "LangChain (Python), ChatOpenAI, Responses",
    dialect: "responses",
    environment: langchainPython,
    versions: ["langchain", "langchain-openai"],
    script: "langchain_chat.py",
  },
  {
    name: "langchain-python-anthropic",
    title: "LangChain (Python), ChatAnthropic",
    dialect: "messages",
    environment: langchainPython,
    versions: ["langchain", "langchain-anthropic"],
    script: "langchain_chat.py",
  },
  {
    name: "langchain-js-chat",
    title: "LangChain (JS), ChatOpenAI, chat",
    dialect: "chat",
    environment: langchainJs,
    versions: ["langchain", "@langchain/openai"],
    script: "langchain.mjs",
  },
  {
    name: "langchain-js-responses",
    title: "LangChain (JS), ChatOpenAI, Responses",
    dialect: "responses",
    environment: langchainJs,
    versions: ["langchain", "@langchain/openai"],
    script: "langchain.mjs",
  },
  {
    name: "langchain-js-anthropic",
    title: "LangChain (JS), ChatAnthropic",
    dialect: "messages",
    environment: langchainJs,
    versions: ["langchain", "@langchain/anthropic"],
    script: "langchain.mjs",
    partial: {
      usage: {
        members: ["stream"],
        reason:
          "Without the usage of streams: LangChain (JS) reads the input in the first event only, which is an estimate if the upstream speaks another dialect, and adds the output of the first event to that of the last.",
      },
    },
  },
  {
    name: "langgraph",
    title: "LangGraph with ChatOpenAI",
    dialect: "chat",
    environment: langgraph,
    versions: ["langgraph", "langchain-openai"],
    script: "langgraph_agent.py",
  },
  {
    name: "llamaindex-chat",
    title: "LlamaIndex, OpenAILike",
    dialect: "chat",
    environment: llamaindex,
    versions: ["llama-index-core", "llama-index-llms-openai-like"],
    script: "llamaindex_llm.py",
    partial: { usage: { members: ["stream"], reason: NO_STREAM_USAGE } },
  },
  {
    name: "llamaindex-responses",
    title: "LlamaIndex, OpenAILikeResponses",
    dialect: "responses",
    environment: llamaindex,
    versions: ["llama-index-core", "llama-index-llms-openai-like"],
    script: "llamaindex_llm.py",
    partial: { usage: { members: ["stream"], reason: NO_STREAM_USAGE } },
  },
  {
    name: "openai-agents-responses",
    title: "openai-agents, Responses",
    dialect: "responses",
    environment: openaiAgents,
    versions: ["openai-agents"],
    script: "openai_agents.py",
  },
  {
    name: "openai-agents-chat",
    title: "openai-agents, chat",
    dialect: "chat",
    environment: openaiAgents,
    versions: ["openai-agents"],
    script: "openai_agents.py",
  },
  {
    name: "pydantic-ai-responses",
    title: "pydantic-ai, OpenAI Responses",
    dialect: "responses",
    environment: pydanticAi,
    versions: ["pydantic-ai-slim"],
    script: "pydantic_ai_agent.py",
  },
  {
    name: "pydantic-ai-chat",
    title: "pydantic-ai, OpenAI chat",
    dialect: "chat",
    environment: pydanticAi,
    versions: ["pydantic-ai-slim"],
    script: "pydantic_ai_agent.py",
  },
  {
    name: "pydantic-ai-anthropic",
    title: "pydantic-ai, Anthropic",
    dialect: "messages",
    environment: pydanticAi,
    versions: ["pydantic-ai-slim"],
    script: "pydantic_ai_agent.py",
  },
  {
    name: "instructor-chat",
    title: "instructor, OpenAI chat",
    dialect: "chat",
    environment: instructor,
    versions: ["instructor"],
    script: "instructor_client.py",
    ...instructorLimits,
  },
  {
    name: "instructor-responses",
    title: "instructor, OpenAI Responses",
    dialect: "responses",
    environment: instructor,
    versions: ["instructor"],
    script: "instructor_client.py",
    ...instructorLimits,
  },
  {
    name: "instructor-anthropic",
    title: "instructor, Anthropic",
    dialect: "messages",
    environment: instructor,
    versions: ["instructor"],
    script: "instructor_client.py",
    ...instructorLimits,
  },
  {
    name: "litellm-chat",
    title: "LiteLLM SDK, openai/",
    dialect: "chat",
    environment: litellm,
    versions: ["litellm"],
    script: "litellm_sdk.py",
  },
  {
    name: "litellm-anthropic",
    title: "LiteLLM SDK, anthropic/",
    dialect: "messages",
    environment: litellm,
    versions: ["litellm"],
    script: "litellm_sdk.py",
  },
  {
    name: "codex",
    title: "Codex CLI",
    dialect: "responses",
    environment: node("codex", "@openai/codex"),
    versions: ["@openai/codex"],
    script: "codex.mjs",
    second: "none",
    isAgent: true,
    partial: {
      stream: { members: ["pieces"], reason: "`codex exec` prints the whole answer only." },
      usage: { members: ["plain"], reason: ALWAYS_STREAMS },
      error: { members: ["refused"], reason: ALWAYS_STREAMS },
    },
  },
  {
    name: "claude-code",
    title: "Claude Code",
    dialect: "messages",
    environment: node("claude-code", "@anthropic-ai/claude-code"),
    versions: ["@anthropic-ai/claude-code"],
    script: "claude_code.mjs",
    second: "none",
    isAgent: true,
    partial: {
      usage: { members: ["plain"], reason: ALWAYS_STREAMS },
      error: { members: ["refused"], reason: ALWAYS_STREAMS },
    },
  },
  {
    name: "open-webui",
    title: "Open WebUI",
    dialect: "chat",
    environment: python("open-webui", "open-webui"),
    versions: ["open-webui"],
    script: "open_webui.py",
    second: "none",
    note: "Used through the API that its page calls, `/api/chat/completions`.",
    partial: {
      error: {
        members: ["unknown"],
        reason: "Without unknown models: Open WebUI refuses names that the gateway does not list.",
      },
    },
  },
];

/** Whether a client is checked in a cell. */
export function hasCell({ impossible, second }: Client, cell: Cell): boolean {
  return impossible?.[cell] === undefined && (cell !== "second" || second !== "none");
}

/** Whether the gateway must store responses for a client in a cell. */
export function needsStore({ second }: Client, cell: Cell): boolean {
  return cell === "second" && second === "stored";
}
