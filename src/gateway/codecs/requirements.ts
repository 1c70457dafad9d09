import type { DialectName } from "../wire/dialect-names.ts";
import type { ItemRequest } from "./items/request.ts";
import type { Requirement } from "./items/requirement.ts";
import { MESSAGES_REQUIREMENTS } from "./messages/requirements.ts";
import { OPENAI_REQUIREMENTS } from "./openai-requirements.ts";

export const REQUIREMENTS: readonly Requirement[] = [
  ...OPENAI_REQUIREMENTS,
  ...MESSAGES_REQUIREMENTS,
];

/** Changes a request of another dialect so that providers of this one accept it. */
export function meetRequirements(request: ItemRequest, dialect: DialectName): ItemRequest {
  return REQUIREMENTS.filter(({ to }) => to.includes(dialect)).reduce(
    (left, { meet }) => meet(left),
    request,
  );
}

/** The list as a table for docs/http.md. */
export function requirementTable(): string {
  const rows = REQUIREMENTS.map(({ to, text }) => `| ${to.join(", ")} | ${text} |`);
  return ["| translated to | change |", "| --- | --- |", ...rows].join("\n");
}
