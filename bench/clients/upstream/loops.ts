import { type OfferedTool, Refused, type ToolCall } from "./conversation.ts";

/** A loop of three steps, in which each call depends on the results before it. */
export interface Loop {
  readonly steps: number;
  /** Throws if the tools of the loop are not offered. */
  checkTools(tools: readonly OfferedTool[]): void;
  /** The calls of a step; `results` holds the results of all earlier calls. */
  step(
    step: number,
    results: readonly string[],
    nonce: string,
    tools: readonly OfferedTool[],
  ): ToolCall[];
  /** The value in the text of a result; throws if it is not what the call returns. */
  resultIn(text: string, call: ToolCall): string;
  /** A call that opens the image, for clients whose only way to images is a tool. */
  openImage?(tools: readonly OfferedTool[], nonce: string): ToolCall | undefined;
}

/** Functions that a client offers, with their only argument. */
const FUNCTIONS = {
  get_city: "person",
  get_weather: "city",
  get_time: "city",
  to_fahrenheit: "celsius",
} as const;

/**
 * The loop of clients that offer functions: find the city of a person, then its weather and its time in
 * parallel, then convert the temperature. Results carry the nonce, so that they cannot be guessed.
 */
export const functionLoop: Loop = {
  steps: 3,

  checkTools(tools) {
    for (const [name, argument] of Object.entries(FUNCTIONS)) {
      const { properties } = (tools.find((tool) => tool.name === name)?.parameters ?? {}) as {
        properties?: Record<string, { type?: string }>;
      };
      const type = properties?.[argument]?.type;
      if (type !== (argument === "celsius" ? "number" : "string")) {
        throw new Refused(`the function ${name} is not offered with its argument ${argument}`);
      }
    }
  },

  step(step, [city = "", weather = ""], nonce) {
    const call = (index: number, name: keyof typeof FUNCTIONS, value: string | number) => ({
      id: `call_${nonce}_${index}`,
      name,
      input: { [FUNCTIONS[name]]: value },
    });
    if (step === 0) return [call(0, "get_city", `Ada ${nonce}`)];
    if (step === 1) return [call(1, "get_weather", city), call(2, "get_time", city)];
    return [call(3, "to_fahrenheit", Number(/-?\d+/.exec(weather)?.[0]))];
  },

  resultIn(text, call) {
    // Some clients send a text as JSON.
    const result = text.startsWith('"') ? String(JSON.parse(text)) : text;
    const expected = resultOf(call);
    if (result !== expected) throw new Refused(`${call.id} returned ${text}, not ${expected}`);
    return result;
  },
};

/** The result of a function, the same in every client. */
function resultOf({ name, input }: ToolCall): string {
  const value = String(Object.values(input)[0]);
  if (name === "get_city") return `Lima-${value.split(" ").at(-1)}`;
  if (name === "get_weather") return `17 degrees in ${value}`;
  if (name === "get_time") return `noon in ${value}`;
  return `${(Number(value) * 9) / 5 + 32} F`;
}
