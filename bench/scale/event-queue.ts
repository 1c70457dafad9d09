/** Runs functions in the order of their virtual times. */
export class EventQueue {
  /** The virtual time in milliseconds. */
  now = 0;
  /** A binary heap: the parent of entry i is entry (i - 1) / 2. */
  readonly #heap: { readonly at: number; readonly order: number; readonly run: () => void }[] = [];
  #scheduled = 0;

  after(milliseconds: number, run: () => void): void {
    const heap = this.#heap;
    heap.push({ at: this.now + milliseconds, order: this.#scheduled++, run });
    for (let i = heap.length - 1; i > 0; ) {
      const parent = (i - 1) >> 1;
      if (!this.#isBefore(i, parent)) break;
      this.#swap(i, parent);
      i = parent;
    }
  }

  /** Runs everything that is due until a time. */
  runUntil(end: number): void {
    for (let first = this.#heap[0]; first && first.at <= end; first = this.#heap[0]) {
      this.#removeFirst();
      this.now = first.at;
      first.run();
    }
    this.now = end;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    this.#swap(0, heap.length - 1);
    heap.pop();
    for (let i = 0; ; ) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      let least = i;
      if (left < heap.length && this.#isBefore(left, least)) least = left;
      if (right < heap.length && this.#isBefore(right, least)) least = right;
      if (least === i) return;
      this.#swap(i, least);
      i = least;
    }
  }

  /** Events of the same time run in the order in which they were scheduled. */
  #isBefore(i: number, j: number): boolean {
    const [a, b] = [this.#heap[i]!, this.#heap[j]!];
    return a.at < b.at || (a.at === b.at && a.order < b.order);
  }

  #swap(i: number, j: number): void {
    const heap = this.#heap;
    [heap[i], heap[j]] = [heap[j]!, heap[i]!];
  }
}
