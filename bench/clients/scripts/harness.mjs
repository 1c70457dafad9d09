/** Code that all JavaScript clients share; see harness.py. */
import { readFileSync } from "node:fs";

/** The client, its gateway and the cells to run. */
export const PLAN = JSON.parse(readFileSync(process.argv[2], "utf8"));

export const FUNCTIONS = {
  get_city: ({ person }) => `Lima-${person.split(" ").at(-1)}`,
  get_weather: ({ city }) => `17 degrees in ${city}`,
  get_time: ({ city }) => `noon in ${city}`,
  to_fahrenheit: ({ celsius }) => `${(celsius * 9) / 5 + 32} F`,
};
export const ARGUMENTS = {
  get_city: "person",
  get_weather: "city",
  get_time: "city",
  to_fahrenheit: "celsius",
};

export function parametersOf(name) {
  const argument = ARGUMENTS[name];
  return {
    type: "object",
    properties: { [argument]: { type: argument === "celsius" ? "number" : "string" } },
    required: [argument],
    additionalProperties: false,
  };
}

export function call(name, given) {
  return FUNCTIONS[name](typeof given === "string" ? JSON.parse(given) : given);
}

/** Calls and returns the error, which must be accepted by `isExpected`. */
export async function refused(request, isExpected) {
  try {
    await request();
  } catch (error) {
    if (!isExpected(error)) throw error;
    const { status, statusCode, message, name } = error;
    return { status: status ?? statusCode, message, type: name };
  }
  throw new Error("the request was not refused");
}

/**
 * The cell "error". `ask` sends a request, also a streamed one; `isBad` and `isMissing` recognise
 * the errors of a refused prompt and of an unknown model.
 */
export const errorCell = (ask, isBad, isMissing) => async (model, prompt) => ({
  refused: await refused(() => ask(model, prompt), isBad),
  streamed: await refused(() => ask(model, prompt, { stream: true }), isBad),
  unknown: await refused(() => ask(PLAN.unknownModel, prompt), isMissing),
});

/** Runs the cells of the plan. A cell is an asynchronous function (model, prompt). */
export async function run(cells) {
  for (const { cell, nonce, model, prompt } of PLAN.cells) {
    let result;
    try {
      result = { nonce, value: await cells[cell](model, prompt, nonce) };
    } catch (error) {
      console.error(error);
      result = { nonce, error: `${error?.name}: ${error?.message}`.slice(0, 2000) };
    }
    console.log(`RESULT ${JSON.stringify(result)}`);
  }
  process.exit();
}
