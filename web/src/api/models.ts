import type { ListedModel } from "../../../src/client.ts";
import { joust } from "./client.ts";

/** The routers that a request can name, and the models among which they choose. */
export interface AvailableModels {
  readonly routers: readonly string[];
  readonly models: readonly ListedModel[];
  readonly isSandbox: boolean;
}

export async function getAvailableModels(): Promise<AvailableModels> {
  const { data } = await joust.models();
  const models = data.filter(({ owned_by }) => owned_by !== "joust");
  return {
    routers: data.filter(({ owned_by }) => owned_by === "joust").map(({ id }) => id),
    models,
    isSandbox: models.some(({ owned_by }) => owned_by === "sandbox"),
  };
}
