/** The secrets that this process uses: keys of providers and databases. */
const SECRETS = new Set<string>();

/** Secrets of fewer than 8 characters are not remembered, because they could match ordinary words. */
export function rememberSecrets(secrets: Iterable<string | undefined>): void {
  for (const secret of secrets) if (secret !== undefined && secret.length >= 8) SECRETS.add(secret);
}

/** Replaces every remembered secret in a text. */
export function redacted(text: string): string {
  let clean = text;
  for (const secret of SECRETS) {
    if (clean.includes(secret)) clean = clean.replaceAll(secret, "[redacted]");
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

const SECRET_HEADERS = /authorization|key|token|secret|cookie/i;
