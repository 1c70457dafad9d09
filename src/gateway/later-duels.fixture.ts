/** Answers of upstreams in the tests of duels whose second answer is fetched later. */

export const COMPLETION = {
  id: "chatcmpl-1",
  object: "chat.completion",
  model: "up",
  choices: [{ index: 0, message: { role: "assistant", content: "fine" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

export const CHUNKS = [
  {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    model: "up",
    choices: [{ index: 0, delta: { content: "fine" }, finish_reason: "stop" }],
    usage: COMPLETION.usage,
  },
];

/** A refusal of an upstream of chat completions, in its own member. */
export function refusalOf(isStream: boolean): object {
  const usage = {
    ...{ prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 },
    completion_tokens_details: { reasoning_tokens: 400 },
  };
  const head = { ...COMPLETION, usage };
  const message = { role: "assistant", content: null, refusal: "I cannot." };
  if (!isStream) return { ...head, choices: [{ index: 0, message, finish_reason: "stop" }] };
  const object = "chat.completion.chunk";
  return [{ ...head, object, choices: [{ index: 0, delta: message, finish_reason: "stop" }] }];
}

/** The same refusal of an upstream that speaks Messages, which has read the prompt from its cache. */
export function refusedMessageOf(isStream: boolean): object {
  const usage = { input_tokens: 7, cache_read_input_tokens: 2000, output_tokens: 9 };
  const text = "I cannot.";
  const end = { stop_reason: "refusal", stop_sequence: null };
  if (!isStream) return { ...MESSAGE, content: [{ type: "text", text }], ...end, usage };
  return [
    { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null, usage } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: end, usage: { output_tokens: 9 } },
    { type: "message_stop" },
  ];
}

export const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "up",
  content: [{ type: "text", text: "fine" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1_000_000, output_tokens: 0 },
};
