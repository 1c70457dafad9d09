import { type Document, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml";

/** YAML text with the line numbers of its members. */
export class YamlText {
  readonly #lines = new LineCounter();
  readonly #document: Document.Parsed;

  constructor(text: string) {
    this.#document = parseDocument(text, { lineCounter: this.#lines });
  }

  /** The first syntax error, or undefined if the text is valid YAML. */
  get error(): { readonly line: number; readonly problem: string } | undefined {
    const [error] = this.#document.errors;
    if (!error) return undefined;
    const { line } = this.#lines.linePos(error.pos[0]);
    return { line, problem: error.message.split(" at line ")[0]! };
  }

  get value(): unknown {
    return this.#document.toJS();
  }

  /** Line of the innermost member of the path that exists. */
  lineOf(path: readonly PropertyKey[]): number | undefined {
    const document = this.#document;
    for (let depth = path.length; depth > 0; depth--) {
      const parent =
        depth === 1 ? document.contents : document.getIn(path.slice(0, depth - 1), true);
      const offset = offsetOf(parent, path[depth - 1]!);
      if (offset !== undefined) return this.#lines.linePos(offset).line;
    }
    return document.contents ? 1 : undefined;
  }

  /** Splits a field such as models.gpt-4.1.price into names of members, which may contain dots. */
  pathOf(field: string): string[] {
    const path: string[] = [];
    let node: unknown = this.#document.contents;
    let rest = field;
    while (isMap(node) && rest !== "") {
      const keys = node.items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []));
      const key = keys.find((name) => rest === name || rest.startsWith(`${name}.`));
      if (key === undefined) break;
      path.push(key);
      rest = rest.slice(key.length + 1);
      node = node.get(key, true);
    }
    return path;
  }
}

function offsetOf(parent: unknown, key: PropertyKey): number | undefined {
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === key);
    return isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
  }
  if (isSeq(parent) && typeof key === "number") {
    const item = parent.items[key];
    return isNode(item) ? item.range?.[0] : undefined;
  }
  return undefined;
}
