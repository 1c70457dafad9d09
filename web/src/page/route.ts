import { Observable } from "../state/observable.ts";

/** The page that the URL's fragment names. The fragment is used because the gateway serves a single file. */
export type Route =
  | { readonly page: "arena" }
  | { readonly page: "dashboard" }
  | { readonly page: "setup" }
  /** `search` is the part of the fragment after its question mark. */
  | { readonly page: "requests"; readonly search: string }
  | { readonly page: "decision"; readonly id: string }
  | { readonly page: "admin"; readonly section: AdminSection }
  | { readonly page: "unknown" };

/** Pages of administration; the first one is shown by default. */
const ADMIN_SECTIONS = [
  "providers",
  "models",
  "routers",
  "keys",
  "learning",
  "system",
  "history",
] as const;
export type AdminSection = (typeof ADMIN_SECTIONS)[number];

export function routeOf(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const [page = "", id] = path.split("/");
  switch (page) {
    case "":
      return { page: "arena" };
    case "dashboard":
    case "setup":
      return { page };
    case "requests":
      return { page, search };
    case "decisions":
      return id ? { page: "decision", id: decoded(id) } : { page: "dashboard" };
    case "admin": {
      const section = ADMIN_SECTIONS.find((name) => name === (id || "providers"));
      return section ? { page, section } : { page: "unknown" };
    }
    default:
      return { page: "unknown" };
  }
}

export function decisionHref(id: string): string {
  return `#/decisions/${encodeURIComponent(id)}`;
}

export function watchRoute(): Observable<Route> {
  const route = new Observable(routeOf(location.hash));
  addEventListener("hashchange", () => route.set(routeOf(location.hash)));
  return route;
}

/** The text without percent encoding, or the text itself if its encoding is damaged. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
