import { expect, it } from "vitest";
import { changedAnswer } from "./accumulate.ts";
import type { Answer } from "./answer.ts";
import { restoringCustomCalls } from "./custom.ts";
import type { ItemRequest } from "./request.ts";

const request: ItemRequest = {
  model: "m",
  stream: true,
  items: [],
  tools: [
    { type: "function", name: "apply_patch", custom: {} },
    { type: "function", name: "shell" },
  ],
};

const call = (name: string, args: string, custom?: boolean) =>
  ({ type: "function_call", callId: `call_${name}`, name, arguments: args, custom }) as const;

function answer(...items: Answer["choices"][number]["items"]): Answer {
  return { id: "1", model: "m", choices: [{ items, stop: { reason: "tool_calls" } }] };
}

const sent = answer(
  call("apply_patch", '{"input":"*** Begin\\n\\"x\\""}'),
  call("shell", '{"input":"ls"}'),
  call("apply_patch", "not JSON"),
);
const expected = answer(
  call("apply_patch", '*** Begin\n"x"', true),
  call("shell", '{"input":"ls"}'),
  call("apply_patch", "not JSON", true),
);

it("calls of a function become calls of the client's custom tool, however the arguments are split", () => {
  const restored = changedAnswer(sent, (push) => {
    const emit = restoringCustomCalls(request, push);
    return (event) => {
      if (event.type !== "delta") emit(event);
      else for (const letter of event.text) emit({ ...event, text: letter });
    };
  });
  expect(restored).toEqual(expected);
  const push = () => {};
  expect(restoringCustomCalls({ ...request, tools: undefined }, push)).toBe(push);
});
