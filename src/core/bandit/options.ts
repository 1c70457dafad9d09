import { invalidValue } from "../errors/joust-error.ts";
import type { About, Hindsight, OptionAbout, Options, Policy, PolicyKind, Pool } from "./policy.ts";

/**
 * Creates a policy. Fills in the defaults, checks the options, and passes the
 * hindsight only to kinds that declare that they need it.
 */
export function createPolicy<O extends Options>(
  kind: PolicyKind<O>,
  pool: Pool,
  options: Partial<O> = {},
  hindsight?: Hindsight,
): Policy {
  for (const key of Object.keys(options)) {
    if (Object.hasOwn(kind.defaults, key)) continue;
    checkRemoved(kind, key);
    const known = Object.keys(kind.defaults).join(", ") || "none";
    throw invalidValue(`${kind.name} has no option ${key}`, `its options are ${known}`);
  }
  const all: O = { ...kind.defaults, ...options };
  checkOptions(kind.name, all, kind.about);
  return kind.create(pool, all, kind.needsHindsight ? hindsight : undefined);
}

/** Throws an error if an earlier version had this option. */
export function checkRemoved({ name, removed = {} }: PolicyKind, key: string): void {
  if (!Object.hasOwn(removed, key)) return;
  throw invalidValue(`${name} no longer has the option ${key}`, `remove it: ${removed[key]}`);
}

/** Returns the options without those that only earlier versions had, which logs of these versions contain. */
export function withoutRemoved({ removed = {} }: PolicyKind, options: Options): Options {
  const kept = Object.entries(options).filter(([key]) => !Object.hasOwn(removed, key));
  return Object.fromEntries(kept);
}

/** Throws an error that names the first option with a value outside its range, and the range. */
export function checkOptions(name: string, options: object, about: About<Options> = {}): void {
  for (const [key, value] of Object.entries(options)) {
    const option = Object.hasOwn(about, key) ? about[key] : undefined;
    if (allowed(value, option)) continue;
    const range = (option && rangeOf(option)) || "a number";
    throw invalidValue(`${key} of ${name} is ${value}`, `give ${key} ${range}`);
  }
}

function allowed(value: unknown, about?: OptionAbout): boolean {
  if (about?.oneOf) return about.oneOf.some((name) => name === value);
  if (typeof value !== "number") return true;
  if (!about) return !Number.isNaN(value);
  const { min = -Infinity, max = Infinity, above = -Infinity, below = Infinity } = about;
  if (about.integer && !Number.isSafeInteger(value)) return false;
  return value >= min && value <= max && value > above && value < below;
}

/** Describes the allowed values: "a whole number, from 1 to 9". Empty if every value is allowed. */
export function rangeOf({ min, max, above, below, integer, oneOf }: OptionAbout): string {
  if (oneOf) return `one of ${oneOf.join(", ")}`;
  const bounds = [
    ...(above === undefined ? [] : [`above ${above}`]),
    ...(below === undefined ? [] : [`below ${below}`]),
    ...(min === undefined ? [] : [max === undefined ? `${min} or more` : `from ${min} to ${max}`]),
    ...(max === undefined || min !== undefined ? [] : [`at most ${max}`]),
  ].join(" and ");
  return [...(integer ? ["a whole number"] : []), ...(bounds ? [bounds] : [])].join(", ");
}
