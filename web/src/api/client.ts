import { JoustClient } from "../../../src/client.ts";
import { Observable } from "../state/observable.ts";
import { load, save } from "../state/storage.ts";

/** API key of the person who uses the page. A gateway without keys needs none. */
export const apiKey = new Observable<string | undefined>(undefined);
/**
 * Text of the dialog that asks for an API key, for example why the gateway refused a
 * request. The dialog is closed while this is undefined.
 */
export const keyProblem = new Observable<string | undefined>(undefined);

/** Client of the gateway that serves this page. */
export const joust = new JoustClient({
  baseUrl: "",
  apiKey: () => apiKey.value,
  onError: ({ status, message }) => {
    if (status === 401) keyProblem.set(message);
  },
});

/** Restores the key that this browser has stored. */
export function loadApiKey(): void {
  const stored = load(localStorage, "key");
  if (typeof stored === "string") apiKey.set(stored);
}

export function setApiKey(key: string | undefined): void {
  save(localStorage, "key", key);
  apiKey.set(key);
  keyProblem.set(undefined);
}
