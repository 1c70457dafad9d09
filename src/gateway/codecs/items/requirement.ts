import type { DialectName } from "../../wire/dialect-names.ts";
import type { ItemRequest } from "./request.ts";

/** A change to translated requests without which providers of a dialect would refuse them. */
export interface Requirement {
  /** Dialects of the providers. */
  readonly to: readonly DialectName[];
  /** The change, for docs/http.md. */
  readonly text: string;
  readonly meet: (request: ItemRequest) => ItemRequest;
}
