import { expect } from "vitest";
import { errorText } from "../../core/errors/error-text.fixture.ts";
import { InputError } from "../../core/input/input-error.ts";
import { type LoadOptions, loadDataset } from "./load.ts";

/** Two models on two categories. */
export const CSV =
  "model,category,perf,cost\nx,mmlu,0.5,1\nx,gsm8k,0.25,2\ny,mmlu,0.75,3\ny,gsm8k,1,0\n";

export function jsonl(...rows: unknown[]): string {
  return rows.map((row) => JSON.stringify(row)).join("\n");
}

export async function refused(path: string, options: LoadOptions, message: RegExp): Promise<void> {
  const error = await loadDataset(path, options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InputError);
  expect(error).toEqual(errorText(message));
}
