import { describe, expect, it } from "vitest";
import { redacted, rememberSecrets, secretsIn } from "./secrets.ts";

describe("redacted", () => {
  rememberSecrets(["sk-a/b+SECRET.1"]);

  it.each([
    ["as it is", "sk-a/b+SECRET.1"],
    ["with an escaped character", "sk-a/b+\\u0053ECRET.1"],
    ["with capital digits", "sk\\u002Da/b+SECRET\\u002E1"],
    ["with an escaped slash", "sk-a\\/b+SECRET.1"],
  ])("replaces a secret %s", (_, written) => {
    expect(redacted(`{"message": "bad key ${written}"}`)).toBe('{"message": "bad key [redacted]"}');
  });

  it("leaves other texts with escapes unchanged", () => {
    const text = '{"message": "sk-a/b+SECRET,1 \\u0053 \\\\ \\n"}';
    expect(redacted(text)).toBe(text);
  });
});

describe("the secrets in headers", () => {
  it.each(["authorization", "x-api-key", "x-auth", "x-password", "x-client-credential"])(
    "are found in %s",
    (name) => {
      expect(secretsIn({ [name]: "Bearer abc", "anthropic-version": "2023-06-01" })).toEqual([
        "abc",
      ]);
    },
  );
});
