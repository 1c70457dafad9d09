/** Which of many answers a method and a path. Paths have their parameters in braces: /v1/decisions/{id}. */
export class Routes<T> {
  readonly #plain = new Map<string, Map<string, T>>();
  readonly #patterns: { readonly method: string; readonly pattern: RegExp; readonly target: T }[] =
    [];

  add(method: string, path: string, target: T): void {
    if (path.includes("{")) {
      const pattern = new RegExp(`^${path.replace(/\{(\w+)\}/g, PARAMETER)}$`);
      this.#patterns.push({ method, pattern, target });
      return;
    }
    const methods = this.#plain.get(path) ?? new Map<string, T>();
    this.#plain.set(path, methods.set(method, target));
  }

  /** A slash at the end makes no difference. Throws URIError where a parameter is in broken escapes. */
  find(method: string, path: string): Found<T> | undefined {
    const own = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    const target = this.#plain.get(own)?.get(method);
    if (target !== undefined) return { target, params: NONE };
    for (const route of this.#patterns) {
      const groups = route.method === method ? route.pattern.exec(own)?.groups : undefined;
      if (groups) return { target: route.target, params: decoded(groups) };
    }
    return undefined;
  }
}

interface Found<T> {
  readonly target: T;
  readonly params: Readonly<Record<string, string>>;
}

const PARAMETER = "(?<$1>[^/]{1,300})";
const NONE = {};

function decoded(groups: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value)]),
  );
}
