/**
 * A statement for either database. Values are kept apart from the text, so that input from a
 * client is never parsed as SQL. SQLite marks the place of a value with ?, PostgreSQL with $1, $2, ...
 */
export interface Statement {
  /** Text before, between and after the values: one string more than there are values. */
  readonly texts: readonly string[];
  readonly values: readonly Value[];
}

/** A value of a statement. Only PostgreSQL accepts lists. */
type Value = string | number | null | Uint8Array | readonly (string | number | null | Uint8Array)[];

/** Template tag. A nested statement becomes part of the new one; anything else becomes a value. */
export function sql(texts: readonly string[], ...parts: readonly (Value | Statement)[]): Statement {
  const all = [texts[0]!];
  const values: Value[] = [];
  const append = (text: string) => {
    all[all.length - 1] += text;
  };
  parts.forEach((part, i) => {
    const nested = isStatement(part) ? part : { texts: ["", ""], values: [part] };
    append(nested.texts[0]!);
    all.push(...nested.texts.slice(1));
    append(texts[i + 1]!);
    values.push(...nested.values);
  });
  return { texts: all, values };
}

function isStatement(part: Value | Statement): part is Statement {
  return typeof part === "object" && part !== null && "texts" in part;
}

/**
 * The statements of one transaction. Each is yielded, and its rows come back: SQLite runs it at once,
 * PostgreSQL waits for the server.
 */
export type Work<T> = Generator<Statement, T, readonly unknown[]>;

/** Runs a statement as a part of a transaction and returns its rows. */
export function* rowsOf<T>(statement: Statement): Work<readonly T[]> {
  return (yield statement) as readonly T[];
}

/** Literal SQL, such as column names. Never pass input from a client. */
export function literal(text: string): Statement {
  return { texts: [text], values: [] };
}

export function joined(parts: readonly (Value | Statement)[], separator: string): Statement {
  return sql(["", ...parts.slice(1).map(() => separator), ""], ...parts);
}

/** Whether a value has the character NUL, which PostgreSQL refuses: no row has such a text. */
export function hasNul({ values }: Statement): boolean {
  return values.some((value) => typeof value === "string" && value.includes("\0"));
}

/** The text of a statement with `mark(n)` in place of value n, counting from 1. */
export function textOf({ texts }: Statement, mark: (number: number) => string): string {
  return texts.reduce((text, next, i) => text + mark(i) + next);
}
