/**
 * Values of a few models, linked: there are many such lists, and each element takes less memory than an entry of a Map.
 */
interface Linked<T> {
  readonly model: string;
  readonly next: T | undefined;
}

/** The element of a model; undefined if the list has none. */
export function ofModel<T extends Linked<T>>(list: T | undefined, model: string): T | undefined {
  let one = list;
  while (one && one.model !== model) one = one.next;
  return one;
}
