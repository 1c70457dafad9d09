import type { DialectName } from "../../wire/dialect-names.ts";
import type { Item, Origin, ReasoningItem } from "./item.ts";

/**
 * Signatures and encrypted content of reasoning can only be verified by the model that made them.
 * A client gets the signatures of another dialect with a tag that names their origin, and sends
 * the tag back in its next request.
 */
export const TAG = "joust1";

/** Signature of reasoning whose origin is hidden. No model can verify it, so it is removed from the next request. */
export const NO_ORIGIN = `${TAG}....`;

type Signed = Pick<ReasoningItem, "signature" | "redacted" | "origin">;

/**
 * Returns the text that a dialect writes as the signature. If the reasoning is of another
 * dialect, a tag with its origin precedes the signature.
 */
export function writeSignature({ signature, redacted, origin }: Signed, dialect: DialectName) {
  if (!origin || origin.dialect === dialect) return signature ?? "";
  return `${writeTag(origin, redacted === true)}${signature ?? ""}`;
}

/** The tag before a signature, which names its origin. */
export function writeTag({ dialect, model = "" }: Origin, redacted: boolean): string {
  const name = Buffer.from(model).toString("base64url");
  return `${[TAG, dialect, redacted ? "r" : "", name].join(".")}.`;
}

export function isTagged(signature: string): boolean {
  return signature.startsWith(`${TAG}.`);
}

/** Reads what `writeSignature` wrote, or a signature of the dialect itself. */
export function readSignature(text: string, dialect: DialectName, model?: string): Signed {
  if (text === "" || text === NO_ORIGIN) return {};
  const [tag, from, redacted, name, ...rest] = text.split(".");
  if (tag !== TAG || !isDialect(from) || name === undefined) {
    return { signature: text, origin: originOf(dialect, model) };
  }
  const signature = rest.join(".");
  return {
    signature: signature === "" ? undefined : signature,
    redacted: redacted === "r" ? true : undefined,
    origin: originOf(from, Buffer.from(name, "base64url").toString()),
  };
}

export function originOf(dialect: DialectName, model?: string): Origin {
  return { dialect, model: model === "" ? undefined : model };
}

/**
 * Removes reasoning that the target cannot verify. Chat has no signatures, so reasoning of an
 * unknown origin stays there. If the origin names no model, it counts as the target's.
 */
export function withoutForeignReasoning(
  items: readonly Item[],
  target: { readonly dialect: DialectName; readonly model: string },
): readonly Item[] {
  const isKept = (item: Item): boolean => {
    if (item.type !== "reasoning") return true;
    const { origin } = item;
    if (!origin) return target.dialect === "chat";
    return (
      origin.dialect === target.dialect &&
      (origin.model === undefined || origin.model === target.model)
    );
  };
  return items.every(isKept) ? items : items.filter(isKept);
}

function isDialect(name: string | undefined): name is DialectName {
  return name === "chat" || name === "responses" || name === "messages";
}
