import { Observable } from "../state/observable.ts";
import { load, save } from "../state/storage.ts";

export interface ArenaSettings {
  readonly isDuel: boolean;
  /** Name of the router; undefined for the first one. */
  readonly router?: string | undefined;
  /** The cost_quality_tradeoff of this browser's requests. Undefined: the router's own setting. */
  readonly tradeoff?: number | undefined;
  /** Models that may answer; undefined in a place where Joust chooses. */
  readonly models: readonly (string | undefined)[];
  /** Instructions to the models before the first question. */
  readonly system: string;
  /** Undefined: the model's own default. */
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
}

export function watchSettings(): Observable<ArenaSettings> {
  const saved = load(localStorage, "arena") as Partial<ArenaSettings> | undefined;
  const settings = new Observable<ArenaSettings>({
    isDuel: saved?.isDuel !== false,
    router: typeof saved?.router === "string" ? saved.router : undefined,
    tradeoff: numberIn(saved?.tradeoff),
    models: (Array.isArray(saved?.models) ? saved.models : [])
      .slice(0, 2)
      .map((name: unknown) => (typeof name === "string" ? name : undefined)),
    system: typeof saved?.system === "string" ? saved.system : "",
    temperature: numberIn(saved?.temperature),
    maxTokens: numberIn(saved?.maxTokens),
  });
  settings.watch((value) => save(localStorage, "arena", value));
  return settings;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
