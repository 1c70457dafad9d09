/** Access to the browser's storage. The page also works if the storage is full, forbidden or damaged. */
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
    // The value is lost on reload.
  }
}

/** Calls `changed` after another tab has changed the value in the local storage. */
export function watchOtherTabs(key: string, changed: () => void): void {
  addEventListener("storage", (event) => {
    if (event.key === PREFIX + key) changed();
  });
}

const PREFIX = "joust.";
