/** What the browser keeps; it may be full, forbidden or spoilt, and the page works all the same. */
export function load(storage: Storage, key: string): unknown {
  try {
    const text = storage.getItem(PREFIX + key);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function save(storage: Storage, key: string, value: unknown): void {
  try {
    if (value === undefined) storage.removeItem(PREFIX + key);
    else storage.setItem(PREFIX + key, JSON.stringify(value));
  } catch {
    // Kept in memory alone.
  }
}

const PREFIX = "joust.";
