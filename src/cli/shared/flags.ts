/** Parsers for the values of options. They refuse a wrong value with the name of the option and a hint. */

import { Argument, type Command } from "commander";
import { InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";

interface Range {
  readonly from: number;
  readonly to?: number;
  readonly whole?: boolean;
  /** The option with a valid value, for the hint. */
  readonly example: string;
}

export function number(
  flag: string,
  { example, ...range }: Omit<Range, "example"> & { readonly example: number },
): (text: string) => number {
  return (text) => readNumber(flag, text, { ...range, example: `${flag} ${example}` });
}

export function readNumber(flag: string, text: string, range: Range): number {
  const { from, to = Infinity, whole = false, example } = range;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  const isInRange = Number.isFinite(value) && value >= from && value <= to;
  if (isInRange && (!whole || Number.isSafeInteger(value))) return value;
  const problem = !Number.isFinite(value)
    ? `is "${text}", not a number`
    : !isInRange
      ? `is ${text}, ${value < from ? `below ${from}` : `above ${to}`}`
      : `is ${text}, not a whole number`;
  const bounds = [from > -Infinity && `from ${from}`, to < Infinity && `to ${to}`].filter(Boolean);
  const expected = [`give a ${whole ? "whole " : ""}number`, ...bounds].join(" ");
  throw new InputError({ file: flag }, problem, `${expected}, for example ${example}`);
}

export function names(flag: string): (text: string) => string[] {
  return (text) => {
    const list = text.split(",").map((name) => name.trim());
    if (list.every((name) => name !== "")) return list;
    throw new InputError({ file: flag }, `"${text}" has an empty name`, `write ${flag} a,b`);
  };
}

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

/** An argument that takes one of several words. The help lists them. */
export function argument(name: string, meaning: string, known: readonly string[]): Argument {
  const bare = name.replace(/[<>[\]]/g, "");
  return new Argument(name, meaning).choices(known).argParser((text) => {
    const found = known.find((one) => one === text);
    if (found !== undefined) return found;
    const hint = `${didYouMean(text, known)}choose one of ${known.join(", ")}`;
    throw new InputError({ file: bare }, `there is no "${text}"`, hint);
  });
}

/** A parser for a folder. It refuses a value that is another option, because then the folder was forgotten. */
export function folder(flag: string): (text: string) => string {
  return (text) => {
    if (text.trim() !== "" && !text.startsWith("--")) return text;
    throw new InputError({ file: flag }, `is "${text}", not a folder`, `write ${flag} DIR`);
  };
}

const TIME = /^(\d{4})-(\d{2})-(\d{2})([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** A parser for a date, which begins in UTC, or a time, which is local if it has no time zone. */
export function time(flag: string): (text: string) => number {
  return (text) => {
    // Date.parse also accepts "12", as December 2001, and February 30.
    const [, year, month, day] = TIME.exec(text) ?? [];
    const isDate = Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
    const milliseconds = Date.parse(text);
    if (isDate && !Number.isNaN(milliseconds)) return milliseconds;
    throw new InputError(
      { file: flag },
      `"${text}" is not a time`,
      `write for example ${flag} 2026-11-15T12:00:00Z`,
    );
  };
}

export const seed = number("--seed", { from: -Infinity, whole: true, example: 1 });

export const threads = number("--threads", { from: 1, to: 1024, whole: true, example: 2 });

export const ENCODER_HELP =
  'encoder: a name that "joust models" lists, the folder of a model, or a bundle of "joust fit"; append :int8 to run a transformer in 8 bits, two to three times as fast and nearly as accurate';

export function withModelsFlag(command: Command): Command {
  return command.option(
    "--models <dir>",
    "folder of model folders to search first",
    folder("--models"),
  );
}
