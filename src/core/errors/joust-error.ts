/** The errors of Joust. A message says what happened and where; the hint, a field of its own, says what to do about it. */

/** An error that somebody can do something about. Every other error is a defect of the program. */
export class JoustError extends Error {
  override readonly name: string = "JoustError";
  /** A stable name of the kind of error, for programs: "invalid_value". */
  readonly code: string;
  /** Advice on how to correct the error, as an imperative: "give n above 0". */
  readonly hint: string | undefined;

  constructor(message: string, { code, hint, cause }: ErrorDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
  }
}

export interface ErrorDetails {
  readonly code: string;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** The error of a check that does not know where the value came from; `checkedAt` adds the place. */
export function invalidValue(problem: string, hint: string): JoustError {
  return new JoustError(problem, { code: "invalid_value", hint });
}

/** The hint of any error that has one. */
export function hintOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("hint" in error)) return undefined;
  return typeof error.hint === "string" ? error.hint : undefined;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** An error as the command line prints it: the message and, on a second line, the hint. */
export function formatError(error: unknown): string {
  const hint = hintOf(error);
  return hint === undefined ? messageOf(error) : `${messageOf(error)}\nhint: ${hint}`;
}

/** An error on one line, for the log and for HTTP clients, which show one text. */
export function formatErrorLine(error: unknown): string {
  return formatError(error).replace("\nhint: ", "; hint: ");
}
