import { Untranslatable } from "../../codecs/items/unsupported.ts";
import { restoreSignatures } from "../../codecs/signatures.ts";
import {
  type Route,
  type TranslatedRequest,
  translateRequest,
} from "../../codecs/translate-request.ts";
import { exactJson } from "../../wire/exact.ts";
import { infiniteField } from "../../wire/infinite.ts";
import { isRecord, type Json, type Members, scanObject } from "../../wire/json.ts";

/** A translated request with the members of its body, as bytes. */
export interface WrittenRequest extends Omit<TranslatedRequest, "body"> {
  readonly members: Members;
}

/** Translates a request. Throws Untranslatable if the upstream's dialect has no place for a part of it. */
export function writtenRequest(body: Uint8Array, route: Route): WrittenRequest {
  const { body: own, ...rest } = translateRequest(parse(body), route);
  return { ...rest, members: scanObject(Buffer.from(JSON.stringify(own))) };
}

/** The request with the signatures of one model, without the reasoning of others. */
export function restoredRequest(
  body: Uint8Array,
  dialect: "responses" | "messages",
  origin: string,
): Members {
  const own = restoreSignatures(parse(body), dialect, origin);
  return scanObject(Buffer.from(JSON.stringify(own)));
}

function parse(body: Uint8Array): Json {
  let value: unknown;
  try {
    value = exactJson(Buffer.from(body).toString());
  } catch (error) {
    throw new Untranslatable(`the request is not JSON: ${error}`);
  }
  if (!isRecord(value)) throw new Untranslatable("the request is not a JSON object");
  const infinite = infiniteField(value);
  if (infinite !== undefined) {
    throw new Untranslatable(`${infinite} is too large for a number`, infinite);
  }
  return value;
}
