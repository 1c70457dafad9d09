/** Where in the input something is wrong; a line counts from 1. */
export interface Place {
  readonly file: string;
  readonly line?: number | undefined;
  readonly field?: string | undefined;
}

/**
 * Input that cannot be used: what is wrong, where, and the remedy. The command
 * line prints the message and exits with 2; any other error is our own fault.
 */
export class InputError extends Error {
  override readonly name = "InputError";
  readonly file: string;
  readonly line: number | undefined;
  readonly field: string | undefined;
  readonly problem: string;
  readonly remedy: string;

  /** `problem` continues the place: "is empty", "names the model twice". */
  constructor({ file, line, field }: Place, problem: string, remedy: string) {
    const place = line === undefined ? file : `${file}:${line}`;
    const subject = field === undefined ? "" : `field "${field}": `;
    super(`${place}: ${subject}${problem}; help: ${remedy}`);
    this.file = file;
    this.line = line;
    this.field = field;
    this.problem = problem;
    this.remedy = remedy;
  }
}

/** Gives what a check says by a RangeError, "problem; help: remedy", its place. */
export function checkedAt<T>(place: Place, check: () => T, remedy = "correct it"): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const [problem, help = remedy] = error.message.split("; help: ");
    throw new InputError(place, problem!, help);
  }
}
