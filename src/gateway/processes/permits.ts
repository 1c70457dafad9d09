/** Asks a process to give back permits that it does not use, and returns how many it gave back. */
export type Recall = (process: string, client: string, most: number) => Promise<number>;

/**
 * Permits for concurrent requests, which processes hold in advance, so that most requests need no
 * message. All processes together never hold more permits of a client than its limit. If all are
 * taken, those that are not in use are recalled, so that a request is refused only if the limit is
 * really reached.
 */
export class Permits {
  readonly #recall: Recall;
  /** Number of permits by client and process. */
  readonly #held = new Map<string, Map<string, number>>();

  constructor(recall: Recall) {
    this.#recall = recall;
  }

  /**
   * Takes `returned` permits of a client back from a process, gives it up to `wanted` new ones, and
   * returns how many.
   */
  async acquire(
    process: string,
    client: string,
    limit: number,
    wanted: number,
    returned = 0,
  ): Promise<number> {
    const held = this.#held.get(client) ?? new Map<string, number>();
    this.#held.set(client, held);
    this.#change(held, process, -returned);
    for (const other of [...held.keys()]) {
      if (total(held) < limit) break;
      if (other === process || !held.get(other)) continue;
      // After the limit was lowered, the processes may hold many more permits than it allows.
      const most = total(held) - limit + Math.max(1, wanted);
      const recalled = await this.#recall(other, client, most).catch(() => 0);
      this.#change(held, other, -recalled);
    }
    const given = Math.max(0, Math.min(wanted, limit - total(held)));
    this.#change(held, process, given);
    return given;
  }

  /** Frees the permits of a process that has ended. */
  remove(process: string): void {
    for (const held of this.#held.values()) held.delete(process);
  }

  #change(held: Map<string, number>, process: string, by: number): void {
    const now = (held.get(process) ?? 0) + by;
    if (now > 0) held.set(process, now);
    else held.delete(process);
  }
}

function total(held: ReadonlyMap<string, number>): number {
  return held.values().reduce((sum, count) => sum + count, 0);
}
