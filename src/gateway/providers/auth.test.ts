import { describe, expect, it } from "vitest";
import { redacted } from "../wire/secrets.ts";
import { authOf, googleTokens, signingFor } from "./auth.ts";

/** The example of AWS's published test suite for Signature Version 4. */
const SUITE = {
  accessKey: "AKIDEXAMPLE",
  secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
  service: "service",
};
const SUITE_DATE = () => new Date("2015-08-30T12:36:00Z");

describe("signatures of AWS's test suite", () => {
  it.each([
    ["get-vanilla", "GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
    [
      "post-vanilla",
      "POST",
      "/",
      "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    ],
    [
      "get-vanilla-query-order-key-case",
      "GET",
      "/?Param2=value2&Param1=value1",
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    ],
    [
      "get-unreserved",
      "GET",
      "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
      "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
    ],
  ] as const)("%s", async (_, method, path, signature) => {
    const sign = signingFor(SUITE, SUITE_DATE);
    const url = `https://example.amazonaws.com${path}`;
    const headers = await sign({ method, url, body: undefined, headers: {} });
    expect(headers).toEqual({
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
      "x-amz-date": "20150830T123600Z",
    });
  });

  it("post-sts-header-before: a token of a session is signed too", async () => {
    const sessionToken =
      "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
    const sign = signingFor({ ...SUITE, sessionToken }, SUITE_DATE);
    const url = "https://example.amazonaws.com/";
    const headers = await sign({ method: "POST", url, body: undefined, headers: {} });
    expect(headers.authorization).toContain(
      "Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
    );
    expect(headers["x-amz-security-token"]).toBe(sessionToken);
  });
});

describe("kinds", () => {
  const aws = { ...SUITE };

  it.each([
    ["bearer", { authorization: "Bearer k" }],
    ["x-api-key", { "x-api-key": "k" }],
    ["azure", { "api-key": "k" }],
    ["sigv4", { authorization: "Bearer k" }],
    ["google-oauth", { authorization: "Bearer k" }],
    ["none", {}],
  ] as const)("%s with a key", (kind, headers) => {
    expect(authOf(kind, { key: "k", aws })).toEqual({ headers });
  });

  it.each(["bearer", "x-api-key", "azure", "none"] as const)("%s without a key", (kind) => {
    expect(authOf(kind, {})).toEqual({ headers: {} });
  });

  it.each(["sigv4", "google-oauth"] as const)("%s without a key signs each request", (kind) => {
    expect(authOf(kind, { aws, google: {} }).sign).toBeTypeOf("function");
    expect(authOf(kind, {})).toEqual({ headers: {} });
  });
});

describe("tokens of Google", () => {
  const request = { method: "POST", url: "https://x", body: undefined, headers: {} } as const;
  const library = (token: string | null, made: object[] = []) => ({
    GoogleAuth: class {
      constructor(options: object) {
        made.push(options);
      }
      async getAccessToken() {
        return token;
      }
    },
  });

  it("come from the library, which is loaded once", async () => {
    const made: object[] = [];
    let loads = 0;
    const sign = googleTokens("key.json", async () => {
      loads++;
      return library("token-1", made);
    });
    expect(await sign(request)).toEqual({ authorization: "Bearer token-1" });
    await sign(request);
    expect(loads).toBe(1);
    expect(made).toEqual([
      { keyFile: "key.json", scopes: ["https://www.googleapis.com/auth/cloud-platform"] },
    ]);
  });

  it("are redacted until two newer tokens were issued", async () => {
    const account = library("");
    let number = 0;
    account.GoogleAuth.prototype.getAccessToken = async () => `token-number-${number}`;
    const sign = googleTokens("key.json", async () => account);
    for (; number < 4; number++) {
      await sign(request);
      await sign(request);
    }
    const shown = [0, 1, 2, 3].map((i) => redacted(`token-number-${i}`));
    expect(shown).toEqual(["token-number-0", "token-number-1", "[redacted]", "[redacted]"]);
  });

  it("are an error if Google returns none", async () => {
    await expect(googleTokens(undefined, async () => library(null))(request)).rejects.toThrow(
      /no access token/,
    );
  });

  it("need the library, and the error says so", async () => {
    await expect(googleTokens(undefined)(request)).rejects.toThrow(
      /install google-auth-library to use Vertex/,
    );
  });
});
