import { expect, it } from "vitest";
import { changedAnswer } from "./accumulate.ts";
import type { Answer } from "./answer.ts";
import type { ItemRequest } from "./request.ts";
import { answeringFromTool, schemaAsTool } from "./schema-tool.ts";
import { unsupportedBy } from "./unsupported.ts";

const schema = { type: "object", properties: { n: { type: "number" } } };
const request: ItemRequest = {
  model: "m",
  stream: false,
  items: [],
  output: { type: "json_schema", name: "count", schema },
};

it("a schema becomes a tool that must be called", () => {
  expect(schemaAsTool(request)).toEqual({
    request: {
      model: "m",
      stream: false,
      items: [],
      tools: [
        { type: "function", name: "count", description: "Gives the answer.", parameters: schema },
      ],
      toolChoice: { mode: "required", name: "count" },
      parallelToolCalls: false,
    },
    answerTool: "count",
  });
});

it.each([{ tools: [{ type: "function" as const, name: "f" }] }, { reasoning: { enabled: true } }])(
  "a schema becomes an instruction if the request has %j",
  (more) => {
    const { request: changed, answerTool } = schemaAsTool({ ...request, ...more });
    expect(answerTool).toBeUndefined();
    expect(changed).toMatchObject({ ...more, output: undefined, items: [{ role: "system" }] });
    expect(JSON.stringify(changed.items)).toContain("JSON schema");
  },
);

it.each([undefined, { type: "json_object" as const }])("%j is not changed", (output) => {
  const plain = { ...request, output };
  expect(schemaAsTool(plain)).toEqual({ request: plain });
});

const answer = (
  item: Answer["choices"][number]["items"][number],
  reason: "tool_calls" | "end" | "length",
) => ({ id: "1", model: "m", choices: [{ items: [item], stop: { reason } }] }) satisfies Answer;
const call = (name: string) =>
  ({ type: "function_call", callId: "c", name, arguments: '{"n":1}' }) as const;
const text = {
  type: "message",
  role: "assistant",
  content: [{ type: "text", text: '{"n":1}' }],
} as const;

it.each([
  [answer(call("count"), "tool_calls"), answer(text, "end")],
  [answer(call("count"), "length"), answer(text, "length")],
  [answer(call("other"), "tool_calls"), answer(call("other"), "tool_calls")],
])("the call of the tool is the answer: %#", (sent, expected) => {
  expect(changedAnswer(sent, (emit) => answeringFromTool("count", emit))).toEqual(expected);
});

it("content that a dialect has no place for is named once", () => {
  const image = { type: "image", source: { type: "file", id: "f" } } as const;
  const audio = { type: "audio", data: "", format: "wav" } as const;
  const video = { type: "opaque", dialect: "chat", value: { type: "video_url" } } as const;
  const pdf = { type: "document", source: { type: "url", url: "u" } } as const;
  const full: ItemRequest = {
    model: "m",
    stream: false,
    choices: 2,
    items: [
      { type: "message", role: "user", content: [image, image, audio, video] },
      { type: "function_call_output", callId: "c", output: [pdf] },
    ],
    tools: [{ type: "hosted", dialect: "responses", value: { type: "web_search" } }],
  };
  expect(unsupportedBy("chat", full)).toEqual([
    "image by file id",
    "document by URL",
    "the tool web_search, which runs at a provider that speaks responses",
  ]);
  expect(unsupportedBy("responses", full)).toEqual(["part video_url", "n above 1"]);
  expect(unsupportedBy("messages", full)).toEqual([
    "audio",
    "part video_url",
    "the tool web_search, which runs at a provider that speaks responses",
    "n above 1",
  ]);
});
