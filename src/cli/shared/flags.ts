/** Values of options: read, checked, and refused with the option's name and a remedy. */
import { InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";

interface Range {
  readonly from: number;
  readonly to?: number;
  readonly whole?: boolean;
  /** For the remedy: the option with a value. */
  readonly example: string;
}

/** A number within a range, as a parser of commander's. */
export function number(
  flag: string,
  { example, ...range }: Omit<Range, "example"> & { readonly example: number },
): (text: string) => number {
  return (text) => readNumber(flag, text, { ...range, example: `${flag} ${example}` });
}

export function readNumber(flag: string, text: string, range: Range): number {
  const { from, to = Infinity, whole = false, example } = range;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  const fits = Number.isFinite(value) && value >= from && value <= to;
  if (fits && (!whole || Number.isSafeInteger(value))) return value;
  const problem = !Number.isFinite(value)
    ? `is "${text}", not a number`
    : !fits
      ? `is ${text}, ${value < from ? `below ${from}` : `above ${to}`}`
      : `is ${text}, not a whole number`;
  const bounds = [from > -Infinity && `from ${from}`, to < Infinity && `to ${to}`].filter(Boolean);
  throw new InputError(
    { file: flag },
    problem,
    [`give a ${whole ? "whole " : ""}number`, ...bounds, `as in ${example}`].join(" "),
  );
}

/** A comma-separated list of names. */
export function names(flag: string): (text: string) => string[] {
  return (text) => {
    const list = text.split(",").map((name) => name.trim());
    if (list.every((name) => name !== "")) return list;
    throw new InputError({ file: flag }, `"${text}" has an empty name`, `write ${flag} a,b`);
  };
}

/** One of a few words. */
export function word<W extends string>(flag: string, known: readonly W[]): (text: string) => W {
  return (text) => {
    const found = known.find((one) => one === text);
    if (found !== undefined) return found;
    throw new InputError(
      { file: flag },
      `"${text}" is not one of ${known.join(", ")}`,
      `${didYouMean(text, known)}write for example ${flag} ${known[0]}`,
    );
  };
}

/** A path to write to; a forgotten value would otherwise swallow the next option. */
export function folder(flag: string): (text: string) => string {
  return (text) => {
    if (text.trim() !== "" && !text.startsWith("--")) return text;
    throw new InputError({ file: flag }, `is "${text}", not a folder`, `write ${flag} DIR`);
  };
}
