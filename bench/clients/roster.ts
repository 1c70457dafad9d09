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

type Shared = Partial<Client> & Pick<Client, "environment" | "script" | "versions">;
type Row = readonly [name: string, title: string, dialect: DialectName, more?: Partial<Client>];

/** Clients that have an environment and a script in common. */
function family(shared: Shared, ...rows: readonly Row[]): Client[] {
  return rows.map(([name, title, dialect, more]) => ({ ...shared, name, title, dialect, ...more }));
}

function python(name: string, script: string, packages: readonly [string, ...string[]]): Shared {
  const versions = [packages[0].replace(/\[.*/, "")];
  return { script: `${script}.py`, environment: { name, kind: "python", packages }, versions };
}

function node(name: string, script: string, packages: readonly [string, ...string[]]): Shared {
  const versions = [packages[0]];
  return { script: `${script}.mjs`, environment: { name, kind: "node", packages }, versions };
}

const STORED = { second: "stored" } as const;
const NO_STREAM_USAGE: Unchecked = {
  members: ["stream"],
  reason: "Without the usage of streams, which the client does not return.",
};
const ALWAYS_STREAMS = "The client always streams.";
/** A program that a person uses. */
const AGENT: Partial<Client> = { second: "none", isAgent: true };
const ALWAYS_STREAMED: Client["partial"] = {
  usage: { members: ["plain"], reason: ALWAYS_STREAMS },
  error: { members: ["refused"], reason: ALWAYS_STREAMS },
};

/** The clients, in the order of the table. */
export const ROSTER: readonly Client[] = [
  ...family(python("openai-python", "openai_chat", ["openai", "pydantic"]), [
    "openai-python-chat",
    "openai (Python), chat",
    "chat",
  ]),
  ...family({ ...python("openai-python", "openai_responses", ["openai", "pydantic"]), ...STORED }, [
    "openai-python-responses",
    "openai (Python), Responses",
    "responses",
  ]),
  ...family(node("openai-node", "openai_chat", ["openai", "zod"]), [
    "openai-node-chat",
    "openai (Node), chat",
    "chat",
  ]),
  ...family({ ...node("openai-node", "openai_responses", ["openai", "zod"]), ...STORED }, [
    "openai-node-responses",
    "openai (Node), Responses",
    "responses",
  ]),
  ...family(python("anthropic-python", "anthropic_messages", ["anthropic", "pydantic"]), [
    "anthropic-python",
    "anthropic (Python)",
    "messages",
  ]),
  ...family(node("anthropic-js", "anthropic_messages", ["@anthropic-ai/sdk", "zod"]), [
    "anthropic-js",
    "@anthropic-ai/sdk",
    "messages",
  ]),
  ...family(
    node("ai-sdk", "ai_sdk", [
      "ai",
      "@ai-sdk/openai",
      "@ai-sdk/anthropic",
      "@ai-sdk/openai-compatible",
      "zod",
    ]),
    [
      "ai-sdk-openai",
      "ai with @ai-sdk/openai, Responses",
      "responses",
      { versions: ["ai", "@ai-sdk/openai"], ...STORED },
    ],
    [
      "ai-sdk-openai-chat",
      "ai with @ai-sdk/openai, chat",
      "chat",
      { versions: ["ai", "@ai-sdk/openai"] },
    ],
    [
      "ai-sdk-anthropic",
      "ai with @ai-sdk/anthropic",
      "messages",
      { versions: ["ai", "@ai-sdk/anthropic"] },
    ],
    [
      "ai-sdk-openai-compatible",
      "ai with @ai-sdk/openai-compatible",
      "chat",
      { versions: ["ai", "@ai-sdk/openai-compatible"] },
    ],
  ),
  ...family(
    python("langchain-python", "langchain_chat", [
      "langchain",
      "langchain-openai",
      "langchain-anthropic",
    ]),
    [
      "langchain-python-chat",
      "LangChain (Python), ChatOpenAI, chat",
      "chat",
      { versions: ["langchain", "langchain-openai"] },
    ],
    [
      "langchain-python-responses",
      "LangChain (Python), ChatOpenAI, Responses",
      "responses",
      { versions: ["langchain", "langchain-openai"] },
    ],
    [
      "langchain-python-anthropic",
      "LangChain (Python), ChatAnthropic",
      "messages",
      { versions: ["langchain", "langchain-anthropic"] },
    ],
  ),
  ...family(
    node("langchain-js", "langchain", [
      "langchain",
      "@langchain/core",
      "@langchain/openai",
      "@langchain/anthropic",
      "zod",
    ]),
    [
      "langchain-js-chat",
      "LangChain (JS), ChatOpenAI, chat",
      "chat",
      { versions: ["langchain", "@langchain/openai"] },
    ],
    [
      "langchain-js-responses",
      "LangChain (JS), ChatOpenAI, Responses",
      "responses",
      { versions: ["langchain", "@langchain/openai"] },
    ],
    [
      "langchain-js-anthropic",
      "LangChain (JS), ChatAnthropic",
      "messages",
      {
        versions: ["langchain", "@langchain/anthropic"],
        partial: {
          usage: {
            members: ["stream"],
            reason:
              "Without the usage of streams: LangChain (JS) reads the input in the first event only, which is an estimate if the upstream speaks another dialect, and adds the output of the first event to that of the last.",
          },
        },
      },
    ],
  ),
  ...family(
    python("langgraph", "langgraph_agent", [
      "langgraph",
      "langchain-openai",
      "langchain-anthropic",
    ]),
    [
      "langgraph",
      "LangGraph with ChatOpenAI",
      "chat",
      { versions: ["langgraph", "langchain-openai"] },
    ],
  ),
  ...family(
    {
      ...python("llamaindex", "llamaindex_llm", [
        "llama-index-core",
        "llama-index-llms-openai",
        "llama-index-llms-openai-like",
      ]),
      versions: ["llama-index-core", "llama-index-llms-openai-like"],
      partial: { usage: NO_STREAM_USAGE },
    },
    ["llamaindex-chat", "LlamaIndex, OpenAILike", "chat"],
    ["llamaindex-responses", "LlamaIndex, OpenAILikeResponses", "responses"],
  ),
  ...family(
    python("openai-agents", "openai_agents", ["openai-agents"]),
    ["openai-agents-responses", "openai-agents, Responses", "responses"],
    ["openai-agents-chat", "openai-agents, chat", "chat"],
  ),
  ...family(
    python("pydantic-ai", "pydantic_ai_agent", ["pydantic-ai-slim[openai,anthropic]"]),
    ["pydantic-ai-responses", "pydantic-ai, OpenAI Responses", "responses"],
    ["pydantic-ai-chat", "pydantic-ai, OpenAI chat", "chat"],
    ["pydantic-ai-anthropic", "pydantic-ai, Anthropic", "messages"],
  ),
  ...family(
    {
      ...python("instructor", "instructor_client", ["instructor", "anthropic"]),
      givesObjects: true,
      second: "none",
      note: "instructor asks for an object in every cell.",
      impossible: {
        tools: "instructor runs no tools; its only tool is the object.",
        abort:
          "instructor has no way to end a stream: its partial objects come in a `ListResponse` without `close`.",
      },
      partial: { usage: NO_STREAM_USAGE },
    },
    ["instructor-chat", "instructor, OpenAI chat", "chat"],
    ["instructor-responses", "instructor, OpenAI Responses", "responses"],
    ["instructor-anthropic", "instructor, Anthropic", "messages"],
  ),
  ...family(
    python("litellm", "litellm_sdk", ["litellm", "mcp"]),
    ["litellm-chat", "LiteLLM SDK, openai/", "chat"],
    ["litellm-anthropic", "LiteLLM SDK, anthropic/", "messages"],
  ),
  {
    ...node("codex", "codex", ["@openai/codex"]),
    ...AGENT,
    name: "codex",
    title: "Codex CLI",
    dialect: "responses",
    partial: {
      stream: { members: ["pieces"], reason: "`codex exec` prints the whole answer only." },
      ...ALWAYS_STREAMED,
    },
  },
  {
    ...node("claude-code", "claude_code", ["@anthropic-ai/claude-code"]),
    ...AGENT,
    name: "claude-code",
    title: "Claude Code",
    dialect: "messages",
    partial: ALWAYS_STREAMED,
  },
  {
    ...python("open-webui", "open_webui", ["open-webui"]),
    name: "open-webui",
    title: "Open WebUI",
    dialect: "chat",
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
