import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { loadApiKey } from "../api/client.ts";
import { Feed } from "../api/feed.ts";
import { getServing, type Serving } from "../api/models.ts";
import { Conversation } from "../arena/conversation.ts";
import { type ArenaSettings, watchSettings } from "../arena/settings.ts";
import { Observable } from "../state/observable.ts";
import { type Route, watchRoute } from "./route.ts";
import { type Theme, watchTheme } from "./theme.ts";

/** What all parts of the page share, made once when it opens. */
export interface Page {
  readonly route: Observable<Route>;
  readonly theme: Observable<Theme>;
  readonly feed: Feed;
  /** Undefined until the gateway has told. */
  readonly serving: Observable<Serving | undefined>;
  readonly settings: Observable<ArenaSettings>;
  readonly conversation: Conversation;
}

export function openPage(): Page {
  loadApiKey();
  const feed = new Feed();
  const serving = new Observable<Serving | undefined>(undefined);
  // Asked again after every gap: another configuration may be served by now.
  feed.connection.watch(({ state }) => {
    if (state === "live" || state === "off") getServing().then(serving.set.bind(serving), () => {});
  });
  feed.start();
  return {
    route: watchRoute(),
    theme: watchTheme(),
    feed,
    serving,
    settings: watchSettings(),
    conversation: new Conversation(),
  };
}

const PageContext = createContext<Page | undefined>(undefined);
export const PageProvider = PageContext.Provider;

export function usePage(): Page {
  return useContext(PageContext)!;
}
