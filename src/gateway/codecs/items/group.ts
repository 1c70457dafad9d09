import { type Item, isOfModel } from "./item.ts";

/** Moves the outputs of calls directly behind the calls, before other items that came between. */
export function outputsFirst(items: readonly Item[]): readonly Item[] {
  return runsOf(items).flatMap((run) => {
    if (isOfModel(run[0]!)) return run;
    const isOutput = (item: Item) => item.type === "function_call_output";
    return [...run.filter(isOutput), ...run.filter((item) => !isOutput(item))];
  });
}

/** Maximal runs of items that the model made, and of items that it did not make. */
function runsOf(items: readonly Item[]): Item[][] {
  const runs: Item[][] = [];
  for (const item of items) {
    const run = runs.at(-1);
    if (run && isOfModel(run[0]!) === isOfModel(item)) run.push(item);
    else runs.push([item]);
  }
  return runs;
}

export function isSystem(item: Item): boolean {
  return item.type === "message" && (item.role === "system" || item.role === "developer");
}

/** The items with the instructions as a first system message. */
export function withInstructions(
  items: readonly Item[],
  instructions: string | undefined,
): readonly Item[] {
  if (instructions === undefined) return items;
  return [
    { type: "message", role: "system", content: [{ type: "text", text: instructions }] },
    ...items,
  ];
}
