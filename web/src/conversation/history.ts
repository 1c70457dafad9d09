import { Observable } from "../state/observable.ts";
import { load, save, watchOtherTabs } from "../state/storage.ts";
import type { Exchange } from "./exchange.ts";

/** A conversation as this browser stores it. */
export interface SavedConversation {
  readonly session: string;
  /** Time of the last change, in milliseconds since 1970. */
  readonly at: number;
  readonly exchanges: readonly Exchange[];
}

/** The conversations of this browser, newest first. They are stored in the browser only. */
export class History {
  readonly conversations: Observable<readonly SavedConversation[]>;

  constructor() {
    this.conversations = new Observable(stored());
    watchOtherTabs(KEY, () => this.conversations.set(stored()));
  }

  keep(conversation: SavedConversation): void {
    if (conversation.exchanges.length === 0) return;
    const others = stored().filter(({ session }) => session !== conversation.session);
    this.#set(
      limited([
        { ...conversation, exchanges: conversation.exchanges.map(withoutImages) },
        ...others,
      ]),
    );
  }

  remove(session: string): void {
    this.#set(stored().filter((one) => one.session !== session));
  }

  clear(): void {
    this.#set([]);
  }

  #set(conversations: readonly SavedConversation[]): void {
    save(localStorage, KEY, conversations);
    this.conversations.set(conversations);
  }
}

const KEY = "history";
/** Limits of what is stored: browsers allow about 5 MB of local storage. */
const MOST = 200;
const MOST_CHARACTERS = 3_000_000;

function stored(): readonly SavedConversation[] {
  const found = load(localStorage, KEY);
  return Array.isArray(found) ? (found as SavedConversation[]) : [];
}

/** The newest conversations that fit into the storage. */
export function limited(conversations: readonly SavedConversation[]): SavedConversation[] {
  let characters = 0;
  return conversations.slice(0, MOST).filter((one) => {
    characters += JSON.stringify(one).length;
    return characters <= MOST_CHARACTERS;
  });
}

/** The exchange as it is stored. */
export function withoutImages({ images: _, ...exchange }: Exchange): Exchange {
  return exchange;
}

/** The conversations that contain all words of the search, in a question or an answer. */
export function found(
  conversations: readonly SavedConversation[],
  search: string,
): readonly SavedConversation[] {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return conversations;
  return conversations.filter(({ exchanges }) => {
    const text = exchanges
      .flatMap(({ prompt, answers }) => [prompt, ...answers.map((answer) => answer.text)])
      .join("\n")
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
