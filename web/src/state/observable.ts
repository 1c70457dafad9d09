import { useEffect, useState } from "preact/hooks";

/** A value that reports its changes. */
export class Observable<T> {
  #value: T;
  readonly #watchers = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const watcher of [...this.#watchers]) watcher(value);
  }

  watch(watcher: (value: T) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }
}

/** The current value; renders the component again when it changes. */
export function useValue<T>(observable: Observable<T>): T {
  const [value, setValue] = useState(observable.value);
  useEffect(() => {
    setValue(() => observable.value);
    return observable.watch((next) => setValue(() => next));
  }, [observable]);
  return value;
}
