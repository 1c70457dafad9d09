import { JoustError } from "../errors/joust-error.ts";

/** A place in the input: a file or a command-line option and, if known, the line and the field in it. */
export interface Place {
  readonly file: string;
  /** Line number, counted from 1. */
  readonly line?: number | undefined;
  readonly field?: string | undefined;
}

/** Input that cannot be used. The command line prints it and exits with 2. */
export class InputError extends JoustError {
  override readonly name = "InputError";
  readonly file: string;
  readonly line: number | undefined;
  readonly field: string | undefined;
  /** The message without the place. */
  readonly problem: string;
  declare readonly hint: string;

  /** `problem` continues the place: "is empty", "names the model twice". */
  constructor({ file, line, field }: Place, problem: string, hint: string) {
    const place = line === undefined ? file : `${file}:${line}`;
    const subject = field === undefined ? "" : `field "${field}": `;
    super(`${place}: ${subject}${problem}`, { code: "invalid_input", hint });
    this.file = file;
    this.line = line;
    this.field = field;
    this.problem = problem;
  }
}

/** Runs a check that throws `invalidValue`, and adds the place to its error. */
export function checkedAt<T>(place: Place, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof JoustError)) throw error;
    throw new InputError(place, error.message, error.hint ?? "correct it");
  }
}
