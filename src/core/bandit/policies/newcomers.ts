/** Duels after which a model that was added later is treated like the others. */
const ENOUGH_DUELS = 12;

/** Models that were added later and have had fewer than ENOUGH_DUELS duels, with their numbers of duels. */
export class Newcomers {
  readonly #duels = new Map<number, number>();

  /**
   * Takes over the newcomers of a snapshot. `from` has the former index of each model; a model
   * that is not in the snapshot (-1) is a newcomer without duels.
   */
  restore(saved: readonly (readonly [number, number])[], from: readonly number[]): void {
    const before = new Map(saved);
    this.#duels.clear();
    from.forEach((old, k) => {
      if (old < 0) this.#duels.set(k, 0);
      else if (before.has(old)) this.#duels.set(k, before.get(old)!);
    });
  }

  snapshot(): [number, number][] {
    return [...this.#duels];
  }

  countDuel(model: number): void {
    const duels = this.#duels.get(model);
    if (duels === undefined) return;
    if (duels + 1 >= ENOUGH_DUELS) this.#duels.delete(model);
    else this.#duels.set(model, duels + 1);
  }

  /** Returns the newcomer with the fewest duels among the candidates, if there is an established model to duel it. */
  next(candidates: readonly number[]): number | undefined {
    if (this.#duels.size === 0 || this.established(candidates).length === 0) return undefined;
    const fresh = candidates.filter((k) => this.#duels.has(k));
    return fresh.sort((a, b) => this.#duels.get(a)! - this.#duels.get(b)!)[0];
  }

  established(candidates: readonly number[]): readonly number[] {
    return candidates.filter((k) => !this.#duels.has(k));
  }
}
