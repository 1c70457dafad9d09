import { Observable } from "../state/observable.ts";

/** Which page is shown: the part of the address after the #, so that the gateway serves one file. */
export type Route =
  | { readonly page: "arena" }
  | { readonly page: "dashboard" }
  | { readonly page: "setup" }
  | { readonly page: "decision"; readonly id: string }
  | { readonly page: "nowhere" };

export function routeOf(hash: string): Route {
  const [page = "", id] = hash.replace(/^#?\/?/, "").split("/");
  switch (page) {
    case "":
      return { page: "arena" };
    case "dashboard":
    case "setup":
      return { page };
    case "decisions":
      return id ? { page: "decision", id: decoded(id) } : { page: "dashboard" };
    default:
      return { page: "nowhere" };
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

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
