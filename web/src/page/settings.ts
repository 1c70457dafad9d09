import { Observable } from "../state/observable.ts";
import { load, save } from "../state/storage.ts";

export interface ArenaSettings {
  readonly isDuel: boolean;
  /** Name of the router; undefined for the first one. */
  readonly router?: string | undefined;
  /** The cost_quality_tradeoff of this browser's requests. Undefined: the router's own setting. */
  readonly tradeoff?: number | undefined;
}

export function watchSettings(): Observable<ArenaSettings> {
  const saved = load(localStorage, "arena") as Partial<ArenaSettings> | undefined;
  const settings = new Observable<ArenaSettings>({
    isDuel: saved?.isDuel !== false,
    router: typeof saved?.router === "string" ? saved.router : undefined,
    tradeoff: typeof saved?.tradeoff === "number" ? saved.tradeoff : undefined,
  });
  settings.watch((value) => save(localStorage, "arena", value));
  return settings;
}
