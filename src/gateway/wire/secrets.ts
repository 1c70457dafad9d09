/** The secrets that this process uses, keys of providers and databases, with their forms in JSON. */
const SECRETS = new Map<string, RegExp>();

/** Secrets of fewer than 8 characters are not remembered, because they could match ordinary words. */
export function rememberSecrets(secrets: Iterable<string | undefined>): void {
  for (const secret of secrets) {
    if (secret === undefined || secret.length < 8 || SECRETS.has(secret)) continue;
    SECRETS.set(secret, escapedForm(secret));
  }
}

/** Forgets a secret that has expired. */
export function forgetSecret(secret: string): void {
  SECRETS.delete(secret);
}

/** Matches a secret in JSON, where each character may be written as an escape. */
function escapedForm(secret: string): RegExp {
  const units = Array.from({ length: secret.length }, (_, i) => {
    const code = secret.charCodeAt(i).toString(16).padStart(4, "0");
    const digits = code.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
    return `(?:\\\\?\\u${code}|\\\\u${digits})`;
  });
  return new RegExp(units.join(""), "g");
}

/** Replaces every remembered secret in a text. */
export function redacted(text: string): string {
  let clean = text;
  const hasEscapes = text.includes("\\");
  for (const [secret, escaped] of SECRETS) {
    if (clean.includes(secret)) clean = clean.replaceAll(secret, "[redacted]");
    if (hasEscapes) clean = clean.replace(escaped, "[redacted]");
  }
  return clean;
}

/** The secrets in the headers of a request to a provider. */
export function secretsIn(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    isSecretHeader(name) ? [value.replace(/^(bearer|basic)\s+/i, "")] : [],
  );
}

/** Whether a header usually contains a secret. */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADERS.test(name);
}

const SECRET_HEADERS = /auth|key|token|secret|cookie|password|credential/i;
