import { getJson } from "./client.ts";

/** GET /v1/models. */
interface ListedModel {
  readonly id: string;
  /** joust: a router. */
  readonly owned_by: string;
  /** US dollars for a million tokens. */
  readonly price?: { readonly input: number; readonly output: number };
}

/** What is served: the routers that one can name, and the models that they choose among. */
export interface Serving {
  readonly routers: readonly string[];
  readonly models: readonly ListedModel[];
  readonly isSandbox: boolean;
}

export async function getServing(signal?: AbortSignal): Promise<Serving> {
  const { data } = await getJson<{ data: readonly ListedModel[] }>("/v1/models", signal);
  const models = data.filter(({ owned_by }) => owned_by !== "joust");
  return {
    routers: data.filter(({ owned_by }) => owned_by === "joust").map(({ id }) => id),
    models,
    isSandbox: models.some(({ owned_by }) => owned_by === "sandbox"),
  };
}
