import { ApiError, JoustClient, type Session } from "../../../src/client.ts";
import { Observable } from "../state/observable.ts";
import { load, save } from "../state/storage.ts";
import { capital } from "../text/format.ts";

/** Whether the gateway requires a key, and the key that is signed in; undefined until the gateway has responded. */
export const session = new Observable<Session | undefined>(undefined);
/** Text of the dialog that asks for an API key. The dialog is closed while this is undefined. */
export const keyProblem = new Observable<string | undefined>(undefined);

/** Client of the gateway that serves this page. The browser sends the cookie of the session. */
export const joust = new JoustClient({
  baseUrl: "",
  headers: () => csrfHeader(),
  onError: ({ status, code, problem }) => {
    if (status === 401) refused(problem);
    // Another tab has signed in, so this one has an old token.
    else if (code === "csrf_token_missing") readSession().catch(() => {});
  },
});

/** A client that does not open the dialog when a key is refused: the dialog itself shows it. */
const quiet = new JoustClient({ baseUrl: "", headers: () => csrfHeader() });

function csrfHeader(): Record<string, string> {
  const csrf = session.value?.csrf;
  return csrf === undefined ? {} : { "x-joust-csrf": csrf };
}

/** Asks for a key if the session has ended. A refused request may be older than the present session. */
async function refused(problem: string): Promise<void> {
  const isValid = session.value?.key && (await quiet.session().catch(() => undefined))?.key;
  if (!isValid) ended(problem);
}

/** Asks for a key, because the gateway has refused a request. Further refusals leave the text of an open dialog as it is. */
function ended(problem: string): void {
  if (session.value?.key) {
    keyProblem.set(`${capital(problem)}. Sign in again to continue.`);
    session.set({ object: "session", required: true });
  } else if (keyProblem.value === undefined) keyProblem.set(NEEDED);
}

const NEEDED = "This gateway requires an API key.";

/**
 * Reads the session when the page opens and when the person comes back to it. Resolves after the
 * first attempt; until the gateway has responded, further attempts follow.
 */
export async function openSession(): Promise<void> {
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") readSession().catch(() => {});
  });
  await beginSession();
}

const RETRY_MS = 1000;

/**
 * Resolves once the gateway has said who is signed in. Before, the page does not know the token that a request with the
 * cookie of a session must have.
 */
export function sessionIsKnown(): Promise<void> {
  if (session.value) return Promise.resolve();
  return new Promise((done) => {
    const unwatch = session.watch(() => {
      unwatch();
      done();
    });
  });
}

async function readSession(): Promise<void> {
  changed(await quiet.session());
}

/**
 * Reads the session. If an invitation or an older version of this page has left a key in the
 * browser's storage, it signs in with that key first and deletes it there.
 */
async function beginSession(): Promise<void> {
  try {
    const current = await quiet.session();
    const refusal = current.required ? await useStoredKey() : undefined;
    save(localStorage, "key", undefined);
    if (session.value === undefined) changed(current);
    if (current.required && !session.value?.key) keyProblem.set(refusal ?? NEEDED);
  } catch {
    setTimeout(beginSession, RETRY_MS);
  }
}

/** Returns the reason if the gateway refuses the key. Throws if the gateway does not respond. */
async function useStoredKey(): Promise<string | undefined> {
  const stored = load(localStorage, "key");
  if (typeof stored !== "string") return undefined;
  try {
    await signIn(stored);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || error.isTemporary) throw error;
    return `The key of your invitation does not work: ${error.problem}.`;
  }
}

/** The problem of a failed request as a sentence, without advice. */
export function sentenceOf(error: Error): string {
  return error instanceof ApiError ? `${capital(error.problem)}.` : error.message;
}

/** Throws if the gateway refuses the key or does not respond. */
export async function signIn(key: string): Promise<void> {
  changed(await quiet.signIn(key));
}

export async function signOut(): Promise<void> {
  await quiet.signOut();
}

let expiry: number | undefined;

function changed(next: Session): void {
  const isSame = JSON.stringify(next) === JSON.stringify(session.value);
  if (!isSame) session.set(next);
  if (!next.required || next.key) keyProblem.set(undefined);
  clearTimeout(expiry);
  if (next.expires_at === undefined) return;
  const left = Date.parse(next.expires_at) - Date.now();
  expiry = window.setTimeout(() => ended("the session has expired"), left);
}

/** Whether the person may use the pages of administration. */
export function isAdmin(value: Session | undefined): boolean {
  return value !== undefined && (!value.required || (value.key?.scopes.includes("admin") ?? false));
}

/** Whether the key that is signed in lacks the scope `metrics`, so that the gateway refuses to show it numbers by model. */
export function lacksMetrics(value: Session | undefined): boolean {
  const scopes = value?.key?.scopes;
  return scopes !== undefined && !scopes.includes("metrics") && !scopes.includes("admin");
}
