import { messageOf } from "../../core/errors/joust-error.ts";
import type { AUTH_KINDS } from "../config/config.ts";
import { forgetSecret, rememberSecrets } from "../wire/secrets.ts";
import type { Sign } from "./upstream/transport.ts";

export type AuthKind = (typeof AUTH_KINDS)[number];

/** Credentials of a provider. Which of them are needed depends on the kind. */
export interface Credentials {
  readonly key?: string | undefined;
  readonly aws?: AwsCredentials | undefined;
  /** A Google account: that of the file or, without a file, the one that google-auth-library finds. */
  readonly google?: { readonly file?: string | undefined } | undefined;
}

export interface AwsCredentials {
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string | undefined;
  readonly region: string;
  /** Service in the scope of the signature, such as `bedrock`. */
  readonly service: string;
}

/**
 * Headers that are the same for all requests, and a function that returns those of a single
 * request.
 */
export interface Auth {
  readonly headers: Readonly<Record<string, string>>;
  readonly sign?: Sign;
}

/**
 * The authentication of requests to a provider. A key takes precedence over a signature: Bedrock
 * accepts both.
 */
export function authOf(kind: AuthKind, credentials: Credentials): Auth {
  const { key, aws, google } = credentials;
  switch (kind) {
    case "none":
      return { headers: {} };
    case "x-api-key":
      return { headers: key === undefined ? {} : { "x-api-key": key } };
    case "azure":
      return { headers: key === undefined ? {} : { "api-key": key } };
    case "sigv4":
      return key === undefined && aws ? { headers: {}, sign: signingFor(aws) } : bearer(key);
    case "google-oauth":
      return key === undefined && google
        ? { headers: {}, sign: googleTokens(google.file) }
        : bearer(key);
    case "bearer":
      return bearer(key);
  }
}

/** Whether requests carry credentials. */
export function hasCredentials(kind: AuthKind, { key, aws, google }: Credentials): boolean {
  if (kind === "none") return false;
  if (key !== undefined) return true;
  return (
    (kind === "sigv4" && aws !== undefined) || (kind === "google-oauth" && google !== undefined)
  );
}

function bearer(key: string | undefined): Auth {
  return { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } };
}

/** Signs requests with AWS Signature Version 4. `now` is for tests. */
export function signingFor(
  { accessKey, secretKey, sessionToken, region, service }: AwsCredentials,
  now?: () => Date,
): Sign {
  rememberSecrets([secretKey, sessionToken]);
  // Keys of the signature are derived once per day and kept in this map.
  const cache = new Map<string, ArrayBuffer>();
  return async ({ method, url, body, headers }) => {
    const { AwsV4Signer } = await import("aws4fetch");
    const signer = new AwsV4Signer({
      method,
      url,
      headers: { ...headers },
      // A copy, whose buffer is not shared with others.
      ...(body && { body: new Uint8Array(body) }),
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      ...(sessionToken !== undefined && { sessionToken }),
      region,
      service,
      cache,
      ...(now && {
        datetime: now()
          .toISOString()
          .replace(/[:-]|\.\d{3}/g, ""),
      }),
    });
    const signed = await signer.sign();
    const names = ["authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256"];
    return Object.fromEntries(
      names.flatMap((name) => {
        const value = new Headers(signed.headers).get(name);
        return value === null ? [] : [[name, value]];
      }),
    );
  };
}

/** The part of google-auth-library that is used. */
interface GoogleLibrary {
  readonly GoogleAuth: new (options: {
    readonly keyFile?: string;
    readonly scopes: readonly string[];
  }) => { getAccessToken(): Promise<string | null | undefined> };
}

/**
 * Gets tokens of a Google account with google-auth-library, which is installed only if it is needed. It knows
 * service accounts, user accounts and the metadata server, and keeps a token until it expires.
 */
export function googleTokens(file: string | undefined, load = loadGoogle): Sign {
  let account: Promise<InstanceType<GoogleLibrary["GoogleAuth"]>> | undefined;
  /** The present token and the one before, with which requests may still be on their way. */
  const tokens: string[] = [];
  return async () => {
    account ??= load().then(
      ({ GoogleAuth }) =>
        new GoogleAuth({ ...(file !== undefined && { keyFile: file }), scopes: [GOOGLE_SCOPE] }),
    );
    const token = await (await account).getAccessToken();
    if (!token) throw new Error("Google gave no access token");
    if (!tokens.includes(token)) {
      rememberSecrets([token]);
      if (tokens.push(token) > 2) forgetSecret(tokens.shift()!);
    }
    return { authorization: `Bearer ${token}` };
  };
}

const GOOGLE_SCOPE = "https://www.googleapis.com/auth/cloud-platform";

async function loadGoogle(): Promise<GoogleLibrary> {
  // The name is a variable, because the package is optional and may be missing when types are checked.
  const name = "google-auth-library";
  try {
    return (await import(name)) as GoogleLibrary;
  } catch (error) {
    throw new Error(`install google-auth-library to use Vertex: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
