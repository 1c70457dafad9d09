import type { z } from "zod";
import { ROUTING, RoutingOptions } from "../../../api/chat.ts";
import { didYouMean } from "../../../core/input/nearest.ts";
import { HttpError } from "../../errors/http-error.ts";
import { checked } from "../../wire/check.ts";
import type { JoustOptions, RequestHeaders } from "../dialect.ts";

function hintFor(issue: z.core.$ZodIssue): string | undefined {
  if (issue.code !== "unrecognized_keys") return undefined;
  const known = Object.keys(ROUTING);
  return `${didYouMean((issue.keys[0] ?? "").slice(0, 64), known)}there is ${known.join(", ")}`;
}

const NO_OPTIONS: RoutingOptions = {};

/** Reads the member and the headers of the same names. The member takes precedence. */
export function readOptions(member: unknown, headers: RequestHeaders): JoustOptions {
  const given = member == null ? NO_OPTIONS : checked(RoutingOptions, member, ["joust"], hintFor);
  const {
    "x-joust-duel": duel,
    "x-joust-cost-quality-tradeoff": tradeoff,
    "x-joust-allowed-models": allowed,
    "x-joust-session-id": session,
  } = headers;
  return {
    duel: given.duel ?? inHeader("x-joust-duel", duel, ROUTING.duel, asFlag),
    tradeoff:
      given.cost_quality_tradeoff ??
      inHeader("x-joust-cost-quality-tradeoff", tradeoff, ROUTING.cost_quality_tradeoff, asNumber),
    allowed:
      given.allowed_models ??
      inHeader("x-joust-allowed-models", allowed, ROUTING.allowed_models, asList),
    session:
      given.session_id ??
      inHeader("x-joust-session-id", session, ROUTING.session_id, (text) => text),
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
