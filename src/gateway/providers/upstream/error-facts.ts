import { isRecord, type Json } from "../../wire/json.ts";

/** Message, code, type and parameter of an error, whatever the shape of its body. */
export interface ErrorFacts {
  readonly message: string;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
  readonly param?: string | undefined;
  /** Errors of single fields, as FastAPI and Mistral list them. */
  readonly fields: readonly { readonly path: string; readonly type: string }[];
}

/** Finds the facts in an error body of any known shape. */
export function factsOf(value: unknown, text: string): ErrorFacts {
  const fields = fieldsIn(value);
  const inner = innermost(value);
  const message =
    messageIn(value) ??
    fieldsText(value) ??
    (isRecord(value) || Array.isArray(value) ? JSON.stringify(value) : plain(text));
  return {
    message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}...` : message,
    // Anthropic has the code in the details.
    code: (isRecord(inner.details) && textIn(inner.details.error_code)) || textIn(inner.code),
    type: textIn(inner.type) ?? textIn(inner.status),
    param: textIn(inner.param),
    fields,
  };
}

const MAX_MESSAGE = 500;

function textIn(value: unknown): string | undefined {
  if (typeof value === "string") return value.slice(0, MAX_CODE);
  return typeof value === "number" ? String(value) : undefined;
}

const MAX_CODE = 100;

/** The object that has the code: `error`, or the body itself. Gemini sends a list of one error. */
function innermost(value: unknown): Json {
  if (Array.isArray(value)) return innermost(value[0]);
  if (!isRecord(value)) return {};
  return isRecord(value.error) ? value.error : value;
}

/** Text of `error.message` and its variations. */
function messageIn(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (Array.isArray(value)) return messageIn(value[0]);
  if (!isRecord(value)) return undefined;
  const { error, message, detail, errors, title } = value;
  for (const part of [error, message, detail, errors, title]) {
    const found = fieldsText(part) ?? messageIn(part);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Errors of fields as FastAPI lists them: `[{type, loc, msg}]`. */
function listed(value: unknown): readonly Json[] {
  return Array.isArray(value)
    ? value.filter(isRecord).filter(({ loc, msg }) => Array.isArray(loc) && typeof msg === "string")
    : [];
}

function fieldsText(value: unknown): string | undefined {
  const texts = listed(value).map((field) => `${pathOf(field)}: ${field.msg}`);
  return texts.length > 0 ? texts.join("; ") : undefined;
}

function pathOf({ loc }: Json): string {
  const path = loc as readonly unknown[];
  return (path[0] === "body" ? path.slice(1) : path).join(".");
}

function fieldsIn(value: unknown): ErrorFacts["fields"] {
  if (Array.isArray(value) && listed(value).length > 0) {
    return listed(value).map((field) => ({
      path: pathOf(field),
      type: `${field.type} ${field.msg}`,
    }));
  }
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
  return inner.flatMap(fieldsIn);
}

/** Readable start of a text that is not JSON; the title of an HTML page. */
function plain(text: string): string {
  const title = /<title>([^<]{1,200})<\/title>/i.exec(text)?.[1];
  return (title ?? (/^\s*</.test(text) ? "" : text)).trim();
}
