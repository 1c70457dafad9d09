/**
 * A statement for either database. Values stand apart from the text, so that
 * nothing a client has sent is ever read as SQL; SQLite has a ? in their places,
 * PostgreSQL $1, $2, ...
 */
export interface Statement {
  /** One more than there are values: what stands before, between and behind them. */
  readonly texts: readonly string[];
  readonly values: readonly Value[];
}

type Value = string | number;

/** Statements within are part of it; anything else within is a value. */
export function sql(texts: readonly string[], ...parts: readonly (Value | Statement)[]): Statement {
  const all = [texts[0]!];
  const values: Value[] = [];
  const append = (text: string) => {
    all[all.length - 1] += text;
  };
  parts.forEach((part, i) => {
    const own = isStatement(part) ? part : placeOf(part);
    append(own.texts[0]!);
    all.push(...own.texts.slice(1));
    append(texts[i + 1]!);
    values.push(...own.values);
  });
  return { texts: all, values };
}

/** Words of the program's own, such as names of columns. */
export function words(text: string): Statement {
  return { texts: [text], values: [] };
}

export function joined(parts: readonly (Value | Statement)[], between: string): Statement {
  return sql(["", ...parts.slice(1).map(() => between), ""], ...parts);
}

/** The text with a mark in the place of each value, the first being number 1. */
export function textOf({ texts }: Statement, mark: (number: number) => string): string {
  return texts.reduce((text, next, i) => text + mark(i) + next);
}

function placeOf(value: Value): Statement {
  return { texts: ["", ""], values: [value] };
}

function isStatement(part: Value | Statement): part is Statement {
  return typeof part === "object";
}
