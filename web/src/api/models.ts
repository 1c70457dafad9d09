import type { ListedModel } from "../../../src/client.ts";
import { joust } from "./client.ts";

/** The routers that a request can name, and the models among which they choose. */
export interface AvailableModels {
  readonly routers: readonly string[];
  /** Names of the models of each router. */
  readonly pools: ReadonlyMap<string, readonly string[]>;
  readonly models: readonly ListedModel[];
  readonly isSandbox: boolean;
}

export async function getAvailableModels(): Promise<AvailableModels> {
  const { data } = await joust.models();
  const models = data.filter(({ owned_by }) => owned_by !== "joust");
  const routers = data.filter(({ owned_by }) => owned_by === "joust");
  return {
    routers: routers.map(({ id }) => id),
    pools: new Map(routers.map(({ id, models: pool = [] }) => [id, pool])),
    models,
    isSandbox: models.some(({ owned_by }) => owned_by === "sandbox"),
  };
}
