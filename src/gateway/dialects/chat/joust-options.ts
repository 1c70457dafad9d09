import { z } from "zod";
import { didYouMean } from "../../../core/input/nearest.ts";
import { HttpError } from "../../errors/http-error.ts";
import { checked } from "../../wire/check.ts";
import { printable } from "../../wire/printable.ts";

/** What a client asks of the router, beside its request proper. */
export interface Wishes {
  readonly duel?: boolean | "auto" | undefined;
  /** 0: quality alone; 10: the cheapest. */
  readonly tradeoff?: number | undefined;
  readonly allowed?: readonly string[] | undefined;
  readonly session?: string | undefined;
}

const DUEL = z.union([z.boolean(), z.literal("auto")], 'has to be false, "auto" or true');
const TRADEOFF = z.number().min(0).max(10);
const ALLOWED = z.array(z.string().min(1).max(256)).min(1).max(1000);
const SESSION = printable(256);

const WISHES = {
  duel: DUEL.nullish().describe(
    "Two answers to vote on: never, where it teaches enough, or always.",
  ),
  cost_quality_tradeoff: TRADEOFF.nullish().describe("0: quality alone; 10: the cheapest."),
  allowed_models: ALLOWED.nullish().describe("Only these may answer."),
  session_id: SESSION.nullish().describe("Requests of one session keep their model."),
};

/** The member `joust` of a request. */
export const EXTENSION = z.strictObject(WISHES, {
  error: (issue) =>
    issue.code === "unrecognized_keys"
      ? `has no "${(issue.keys[0] ?? "").slice(0, 64)}"`
      : undefined,
});

/** Lists the known options, the nearest first, for an issue about an unknown one. */
function optionHint(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  const known = Object.keys(WISHES);
  return `${didYouMean((issue.keys[0] ?? "").slice(0, 64), known)}there is ${known.join(", ")}`;
}

const NOTHING: z.output<typeof EXTENSION> = {};

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The member and the headers of the same names; the member comes first. */
export function readWishes(extension: unknown, headers: Headers): Wishes {
  const said = extension == null ? NOTHING : checked(EXTENSION, extension, ["joust"], optionHint);
  const {
    "x-joust-duel": duel,
    "x-joust-cost-quality-tradeoff": tradeoff,
    "x-joust-allowed-models": allowed,
    "x-joust-session-id": session,
  } = headers;
  return {
    duel: said.duel ?? inHeader("x-joust-duel", duel, DUEL, asWord),
    tradeoff:
      said.cost_quality_tradeoff ??
      inHeader("x-joust-cost-quality-tradeoff", tradeoff, TRADEOFF, asNumber),
    allowed: said.allowed_models ?? inHeader("x-joust-allowed-models", allowed, ALLOWED, asList),
    session: said.session_id ?? inHeader("x-joust-session-id", session, SESSION, (text) => text),
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
    throw new HttpError(400, `${name} is there twice`, { hint: "send it once", param: name });
  }
  return checked(schema, read(value.trim()), [name]);
}

function asWord(text: string): unknown {
  return text === "true" || text === "1" ? true : text === "false" || text === "0" ? false : text;
}

function asNumber(text: string): unknown {
  return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
}

function asList(text: string): string[] {
  return text.split(",").map((name) => name.trim());
}
