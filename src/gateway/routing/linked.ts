/**
 * An element of a linked list that has values of a few models. There are many such lists, and they take less memory than
 * a Map each.
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
