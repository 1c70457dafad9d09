import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { openSession, signOut } from "../api/client.ts";
import { Feed } from "../api/feed.ts";
import { type AvailableModels, getAvailableModels } from "../api/models.ts";
import { Conversation } from "../conversation/conversation.ts";
import { Observable } from "../state/observable.ts";
import { save, watchOtherTabs } from "../state/storage.ts";
import { type Route, watchRoute } from "./route.ts";
import { type ArenaSettings, watchSettings } from "./settings.ts";
import { type Theme, watchTheme } from "./theme.ts";

/** The state shared by all parts of the page, created once when the page opens. */
export interface Page {
  readonly route: Observable<Route>;
  readonly theme: Observable<Theme>;
  readonly feed: Feed;
  /** Routers and models of the gateway; undefined until it has responded. */
  readonly serving: Observable<AvailableModels | undefined>;
  /** Reads routers and models again, after they were changed here. */
  readonly reloadModels: () => void;
  readonly settings: Observable<ArenaSettings>;
  readonly conversation: Conversation;
  /** Signs out, and removes everything of the person from all tabs and from the browser's storage. */
  readonly signOut: () => Promise<void>;
}

export function openPage(): Page {
  const feed = new Feed();
  const serving = new Observable<AvailableModels | undefined>(undefined);
  const reloadModels = () => {
    getAvailableModels().then(serving.set.bind(serving), () => {});
  };
  // Read again after each reconnection: the configuration may have changed.
  feed.connection.watch(({ state }) => {
    if (state === "live" || state === "off") reloadModels();
  });
  // Before the session is known, the gateway may refuse requests.
  openSession().finally(() => feed.start());
  const conversation = new Conversation();
  const leave = () => {
    conversation.erase();
    save(localStorage, "arena", undefined);
    location.reload();
  };
  watchOtherTabs("signed-out", leave);
  return {
    route: watchRoute(),
    theme: watchTheme(),
    feed,
    serving,
    reloadModels,
    settings: watchSettings(),
    conversation,
    signOut: async () => {
      await signOut();
      save(localStorage, "signed-out", Date.now());
      leave();
    },
  };
}

const PageContext = createContext<Page | undefined>(undefined);
export const PageProvider = PageContext.Provider;

export function usePage(): Page {
  return useContext(PageContext)!;
}
