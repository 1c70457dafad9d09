import type { Outcome } from "../../core/bandit/policy.ts";

/** One query of a file, with models and categories still by name. Every format is read into rows. */
export interface Row {
  readonly file: string;
  readonly line: number;
  readonly id: string;
  readonly text: string;
  readonly category?: string | undefined;
  /** Name of the field that holds the category in the file, for error messages; "category" by default. */
  readonly categoryField?: string | undefined;
  readonly scores?: Readonly<Record<string, number>> | undefined;
  readonly costs?: Readonly<Record<string, number>> | undefined;
  readonly comparisons?: readonly NamedVerdict[] | undefined;
}

export interface NamedVerdict {
  readonly a: string;
  readonly b: string;
  readonly outcome: Outcome;
}

/** A row without an id is named after its line. */
export function idOf(id: string | number | null | undefined, line: number): string {
  return id == null ? `line-${line}` : String(id);
}
