import { JoustError } from "../errors/joust-error.ts";
import { InputError } from "../input/input-error.ts";

/** An error as a plain value. Classes do not survive a message between threads; fields do. */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly cause?: PlainError | undefined;
}

type ErrorClass = { readonly name: string; readonly prototype: Error };

export function toPlainError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error), fields: {} };
  const { name, message, stack, cause } = error;
  const fields = Object.entries(error).filter(([, value]) => isCloneable(value));
  return {
    name,
    message,
    stack,
    fields: Object.fromEntries(fields),
    ...(cause !== undefined && { cause: toPlainError(cause) }),
  };
}

/**
 * Restores an error. It gets its class back if that is one of `classes` or of `KNOWN`;
 * otherwise it is an Error with the original name.
 */
export function fromPlainError(plain: PlainError, classes: readonly ErrorClass[] = []): Error {
  const { name, message, stack, fields, cause } = plain;
  const known = [...classes, ...KNOWN].find((one) => one.name === name);
  const error = new Error(message, cause && { cause: fromPlainError(cause, classes) });
  if (known) Object.setPrototypeOf(error, known.prototype);
  else error.name = name;
  if (stack !== undefined) error.stack = stack;
  return Object.assign(error, fields);
}

const KNOWN: readonly ErrorClass[] = [JoustError, InputError, RangeError, TypeError, SyntaxError];

function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
