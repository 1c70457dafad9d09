import { describe, expect, it } from "vitest";
import { Untranslatable } from "./items/unsupported.ts";
import { translateRequest } from "./translate-request.ts";

const translate = (chat: object) => {
  const route = { from: "chat", to: "messages", model: "claude", requestsUsage: true } as const;
  const { body, ...rest } = translateRequest({ messages: [], max_tokens: 4096, ...chat }, route);
  return { body: asBlocks(JSON.parse(JSON.stringify(body))), ...rest };
};

/** Writes contents that are one text as a list, which means the same. */
const asBlocks = (value: ReturnType<typeof JSON.parse>): ReturnType<typeof JSON.parse> => {
  if (Array.isArray(value)) return value.map(asBlocks);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      (name === "content" || name === "system") && typeof each === "string"
        ? [text(each)]
        : asBlocks(each),
    ]),
  );
};
const user = (content: unknown) => ({ role: "user", content });
const text = (words: string) => ({ type: "text", text: words });

describe("conversations", () => {
  const translated = (...messages: object[]) => translate({ messages }).body.messages;

  it("collect system messages from all places", () => {
    const { body } = translate({
      messages: [
        { role: "system", content: "Be brief." },
        user("Hi"),
        { role: "developer", content: [text("And kind."), text("")] },
      ],
    });
    expect(body).toEqual({
      model: "claude",
      max_tokens: 4096,
      system: [text("Be brief."), text("And kind.")],
      messages: [{ role: "user", content: [text("Hi")] }],
    });
  });

  it("begin with a message of the user, also if there are only instructions", () => {
    const point = { role: "user", content: [text(".")] };
    expect(translated({ role: "system", content: "Greet." })).toEqual([point]);
    const said = { role: "assistant", content: [text("Hi")] };
    expect(translated({ role: "system", content: "Greet." }, said)).toEqual([point, said]);
  });

  it("keep consecutive messages of one role, which count as one", () => {
    expect(
      translated(user("a"), { role: "assistant", content: "b" }, user("c"), user([text("d")])),
    ).toEqual([
      { role: "user", content: [text("a")] },
      { role: "assistant", content: [text("b")] },
      { role: "user", content: [text("c")] },
      { role: "user", content: [text("d")] },
    ]);
  });

  it("leave out texts of white space beside a call", () => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
    const said = { role: "assistant", content: "\n\n", tool_calls: [call] };
    expect(translated(user("a"), said)[1].content).toMatchObject([{ type: "tool_use", id: "c" }]);
    expect(translated(user("a"), { role: "assistant", content: "\n" })).toHaveLength(1);
  });

  it("have ids of calls that Anthropic accepts, each once", () => {
    const kimi = {
      id: "functions.f:0",
      type: "function",
      function: { name: "f", arguments: "{}" },
    };
    const [, called, answered] = translated(
      user("a"),
      { role: "assistant", tool_calls: [kimi] },
      { role: "tool", tool_call_id: "functions.f:0", content: "1" },
    );
    const { id } = called.content[0];
    expect(id).toMatch(/^functions_f_0_[0-9a-f]{8}$/);
    expect(answered.content[0].tool_use_id).toBe(id);
    const legacy = [
      { role: "assistant", function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "1" },
    ];
    const ids = translated(user("a"), ...legacy, ...legacy)
      .flatMap(({ content }: { content: { id?: string; tool_use_id?: string }[] }) => content)
      .map(({ id, tool_use_id }: { id?: string; tool_use_id?: string }) => id ?? tool_use_id);
    expect(ids).toEqual([undefined, "call_f", "call_f", "call_f_2", "call_f_2"]);
  });

  it("send text files as text, because of files in base64 Anthropic reads PDF alone", () => {
    const file = { filename: "a.csv", file_data: `data:text/csv;base64,${btoa("a,b")}` };
    expect(translated(user([{ type: "file", file }]))[0].content[0]).toMatchObject({
      type: "document",
      source: { type: "text", media_type: "text/plain", data: "a,b" },
    });
  });

  it("keep all digits of large integers", () => {
    const args = '{"id":1234567890123456789,"low":-9007199254740993,"text":"1234567890123456789"}';
    const call = { id: "c", type: "function", function: { name: "f", arguments: args } };
    const route = { from: "chat", to: "messages", model: "m", requestsUsage: true } as const;
    const messages = [user("a"), { role: "assistant", tool_calls: [call] }];
    const { body } = translateRequest({ messages, max_tokens: 9 }, route);
    expect(JSON.stringify(body)).toContain(`"input":${args}`);
  });

  it("begin with the user, have no empty text and do not end in white space", () => {
    expect(translated({ role: "assistant", content: "Hello  " }, user(""))).toEqual([
      { role: "user", content: [text(".")] },
      { role: "assistant", content: [text("Hello")] },
    ]);
  });

  it("contain images as data or as addresses, and files", () => {
    const image = (url: string) => ({ type: "image_url", image_url: { url } });
    const file = {
      type: "file",
      file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBE" },
    };
    const [message] = translated(
      user([image("data:image/png;base64,iVBO"), image("https://x.org/a.png"), file]),
    );
    expect(message.content).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBO" } },
      { type: "image", source: { type: "url", url: "https://x.org/a.png" } },
      {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: "JVBE" },
        title: "a.pdf",
      },
    ]);
  });

  it("keep marks of the prompt cache", () => {
    const marked = { ...text("long"), cache_control: { type: "ephemeral" } };
    expect(translated(user([marked]))[0].content).toEqual([marked]);
  });

  it("contain calls of tools and their results, results first", () => {
    const call = (id: string, args: string) => ({
      id,
      type: "function",
      function: { name: "weather", arguments: args },
    });
    const messages = translated(
      user("Paris and Rome?"),
      {
        role: "assistant",
        content: null,
        tool_calls: [call("a", '{"city":"Paris"}'), call("b", "")],
      },
      { role: "tool", tool_call_id: "a", content: "21" },
      user("quick"),
      { role: "tool", tool_call_id: "b", content: [text("25")] },
    );
    expect(messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "a", name: "weather", input: { city: "Paris" } },
          { type: "tool_use", id: "b", name: "weather", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: [text("21")] },
          { type: "tool_result", tool_use_id: "b", content: [text("25")] },
          text("quick"),
        ],
      },
    ]);
  });

  it("contain calls in the older format", () => {
    const messages = translated(
      user("x"),
      { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "1" },
    );
    expect(messages[1].content[0].id).toBe(messages[2].content[0].tool_use_id);
  });
});

describe("settings", () => {
  it.each<[object, object]>([
    [{ max_tokens: 7 }, { max_tokens: 7 }],
    [{ max_completion_tokens: 8, max_tokens: 7 }, { max_tokens: 8 }],
    [{ temperature: 0.3 }, { temperature: 0.3 }],
    [{ temperature: 1.7 }, { temperature: 1 }],
    [{ top_p: 0.9 }, { top_p: 0.9 }],
    [{ temperature: 1, top_p: 0.9 }, { top_p: 0.9 }],
    [{ temperature: 0.5, top_p: 0.9 }, { temperature: 0.5 }],
    [{ stop: "END" }, { stop_sequences: ["END"] }],
    [{ stop: ["\n", "END", null] }, { stop_sequences: ["END"] }],
    [{ stop: null, seed: 1, presence_penalty: 1, logit_bias: {} }, {}],
    [
      { user: "u-1", stream: true, n: 1 },
      { metadata: { user_id: "u-1" }, stream: true },
    ],
    [
      { thinking: { type: "enabled", budget_tokens: 1024 } },
      { thinking: { type: "enabled", budget_tokens: 1024 } },
    ],
  ])("%j becomes %j", (chat, expected) => {
    expect(translate(chat).body).toEqual({
      model: "claude",
      max_tokens: 4096,
      messages: [],
      ...expected,
    });
  });

  it("contain whether the client wants usage", () => {
    const { request } = translate({ stream_options: { include_usage: true } });
    expect(request.includeUsage).toBe(true);
    expect(translate({}).request.includeUsage).toBeUndefined();
  });
});

describe("tools", () => {
  const parameters = { type: "object", properties: { city: { type: "string" } } };
  const tool = { type: "function", function: { name: "weather", description: "d", parameters } };
  const translated = { name: "weather", description: "d", input_schema: parameters };

  it("are declared, in the new and the older format", () => {
    expect(translate({ tools: [tool] }).body.tools).toEqual([translated]);
    expect(translate({ functions: [tool.function] }).body.tools).toEqual([translated]);
    const bare = { type: "function", function: { name: "now" } };
    expect(translate({ tools: [bare] }).body.tools).toEqual([
      { name: "now", input_schema: { type: "object" } },
    ]);
  });

  it.each<[object, object | undefined]>([
    [{}, undefined],
    [{ tool_choice: "auto" }, { type: "auto" }],
    [{ tool_choice: "none" }, { type: "none" }],
    [{ tool_choice: "required" }, { type: "any" }],
    [
      { tool_choice: { type: "function", function: { name: "weather" } } },
      { type: "tool", name: "weather" },
    ],
    [{ function_call: { name: "weather" } }, { type: "tool", name: "weather" }],
    [{ parallel_tool_calls: false }, { type: "auto", disable_parallel_tool_use: true }],
    [
      { tool_choice: "required", parallel_tool_calls: false },
      { type: "any", disable_parallel_tool_use: true },
    ],
  ])("%j chooses %j", (chat, expected) => {
    expect(translate({ tools: [tool], ...chat }).body.tool_choice).toEqual(expected);
  });

  it("have no choice if none are declared; earlier ones are declared but not called", () => {
    expect(translate({ tool_choice: "auto" }).body).not.toHaveProperty("tool_choice");
    const messages = [
      user("x"),
      { role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "a", content: "1" },
    ];
    const { body } = translate({ messages });
    expect(body.tools).toEqual([{ name: "f", input_schema: { type: "object" } }]);
    expect(body.tool_choice).toEqual({ type: "none" });
  });

  const schema = { type: "object", properties: { n: { type: "number" } } };
  const response_format = { type: "json_schema", json_schema: { name: "count", schema } };

  it("express a schema as a tool that must be called", () => {
    const { body, answerTool } = translate({ response_format });
    expect(answerTool).toBe("count");
    expect(body.tools).toEqual([
      { name: "count", description: "Gives the answer.", input_schema: schema },
    ]);
    expect(body.tool_choice).toMatchObject({ type: "tool", name: "count" });
  });

  it.each([{ tools: [tool] }, { thinking: { type: "adaptive" } }])(
    "express a schema as an instruction if no tool can be forced: %j",
    (chat) => {
      const { body, answerTool } = translate({ response_format, ...chat });
      expect(answerTool).toBeUndefined();
      expect(body.tool_choice).toBeUndefined();
      expect(body.system[0].text).toContain(JSON.stringify(schema));
    },
  );

  it("express json_object as an instruction", () => {
    const { body } = translate({ response_format: { type: "json_object" } });
    expect(body.system[0].text).toMatch(/one JSON object/);
  });
});

it.each<[object, RegExp]>([
  [{ n: 2 }, /n above 1/],
  [{ messages: "hi" }, /messages is not a list/],
  [{ messages: [3] }, /messages\[0\] is not an object/],
  [{ messages: [{ role: "critic", content: "x" }] }, /messages\[0\]\.role is "critic"/],
  [{ messages: [user(5)] }, /messages\[0\]\.content is neither/],
  [{ messages: [user([{ type: "input_audio" }])] }, /audio cannot be sent in the dialect messages/],
  [{ messages: [user([{ type: "image_url" }])] }, /image_url has no url/],
  [{ messages: [user([{ type: "file", file: { file_id: "f" } }])] }, /has no file_data/],
  [{ messages: [{ role: "tool", content: "x" }] }, /tool_call_id is missing/],
  [{ tools: [{ type: "function" }] }, /tools\[0\]\.function is missing/],
])("refuses %j and names the field", (chat, message) => {
  expect(() => translate(chat)).toThrow(Untranslatable);
  expect(() => translate(chat)).toThrow(message);
});

it.each([
  ['{"city": "Li', { input: '{"city": "Li' }],
  ["Lima", { input: "Lima" }],
  ["[1]", { input: "[1]" }],
  ['{"a":{"b":1e999}}', { input: '{"a":{"b":1e999}}' }],
  ["", {}],
])("arguments of an earlier call that are no JSON object are kept as a text: %j", (text, input) => {
  const call = { id: "c1", type: "function", function: { name: "f", arguments: text } };
  const messages = [
    { role: "user", content: "x" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "c1", content: "invalid arguments" },
  ];
  expect(JSON.stringify(translate({ messages }))).toContain(`"input":${JSON.stringify(input)}`);
});
