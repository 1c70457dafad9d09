import { z } from "zod";
import { didYouMean } from "../../../core/input/nearest.ts";
import { HttpError } from "../../errors/http-error.ts";
import { checked } from "../../wire/check.ts";
import { printable } from "../../wire/printable.ts";
import type { JoustOptions, RequestHeaders } from "../dialect.ts";

const DUEL = z.union([z.boolean(), z.literal("auto")], 'has to be false, "auto" or true');
const TRADEOFF = z.number().min(0).max(10);
const ALLOWED = z.array(z.string().min(1).max(256)).min(1).max(1000);
const SESSION = printable(256);

const MEMBERS = {
  duel: DUEL.nullish().describe(
    "Whether to show two answers to vote on: never, if the policy chooses to, or always.",
  ),
  cost_quality_tradeoff: TRADEOFF.nullish().describe(
    "0 for quality alone, 10 for the cheapest model.",
  ),
  allowed_models: ALLOWED.nullish().describe("The only models that may answer."),
  session_id: SESSION.nullish().describe("Requests of one session keep their model."),
};

/** The member `joust` of a request. */
export const JOUST_OPTIONS = z.strictObject(MEMBERS, {
  error: (issue) =>
    issue.code === "unrecognized_keys" ? `has no "${unknownMember(issue)}"` : undefined,
});

function unknownMember({ keys }: { readonly keys: readonly string[] }): string {
  return (keys[0] ?? "").slice(0, 64);
}

function hintFor(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  const known = Object.keys(MEMBERS);
  return `${didYouMean(unknownMember(issue), known)}there is ${known.join(", ")}`;
}

const NO_OPTIONS: z.output<typeof JOUST_OPTIONS> = {};

/** Reads the member and the headers of the same names. The member takes precedence. */
export function readOptions(member: unknown, headers: RequestHeaders): JoustOptions {
  const given = member == null ? NO_OPTIONS : checked(JOUST_OPTIONS, member, ["joust"], hintFor);
  const {
    "x-joust-duel": duel,
    "x-joust-cost-quality-tradeoff": tradeoff,
    "x-joust-allowed-models": allowed,
    "x-joust-session-id": session,
  } = headers;
  return {
    duel: given.duel ?? inHeader("x-joust-duel", duel, DUEL, asFlag),
    tradeoff:
      given.cost_quality_tradeoff ??
      inHeader("x-joust-cost-quality-tradeoff", tradeoff, TRADEOFF, asNumber),
    allowed: given.allowed_models ?? inHeader("x-joust-allowed-models", allowed, ALLOWED, asList),
    session: given.session_id ?? inHeader("x-joust-session-id", session, SESSION, (text) => text),
  };
}

function inHeader<S extends z.ZodType>(
  name: string,
  value: string | string[] | undefined,
  schema: S,
  read: (text: string) => unknown,
): z.output<S> | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string") {
    throw new HttpError(400, `the request has the header ${name} twice`, {
      hint: "send it once",
      param: name,
    });
  }
  return checked(schema, read(value.trim()), [name]);
}

function asFlag(text: string): unknown {
  return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : text;
}

function asNumber(text: string): unknown {
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
}

function asList(text: string): string[] {
  return text.split(",").map((name) => name.trim());
}
