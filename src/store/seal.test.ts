import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { errorText } from "../core/errors/error-text.fixture.ts";
import { readKey, seal, unseal } from "./seal.ts";

describe("seal", () => {
  const key = randomBytes(32);

  it("restores the text for the holder of the key and for nobody else", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(unseal(seal(text, "d1", key), "d1", key)).toBe(text);
        expect(unseal(seal(text, "d1", undefined), "d1", undefined)).toBe(text);
        expect(unseal(seal(text, "d1", key), "d1", undefined)).toBeUndefined();
        expect(unseal(seal(text, "d1", key), "d1", randomBytes(32))).toBeUndefined();
      }),
      { seed: 1 },
    );
  });

  it("encrypts with a new nonce each time and binds the text to its decision", () => {
    const sealed = seal("a secret", "d1", key);
    expect(Buffer.from(sealed).includes("secret")).toBe(false);
    expect(seal("a secret", "d1", key)).not.toEqual(sealed);
    expect(unseal(sealed, "d2", key)).toBeUndefined();
  });

  it("detects every changed byte", () => {
    const sealed = seal("Why?", "d1", key);
    for (let i = 1; i < sealed.length; i++) {
      const changed = Uint8Array.from(sealed);
      changed[i]! ^= 1;
      expect(unseal(changed, "d1", key)).toBeUndefined();
    }
    expect(unseal(new Uint8Array(0), "d1", key)).toBeUndefined();
    expect(unseal(sealed.subarray(0, 20), "d1", key)).toBeUndefined();
  });

  it("reads keys in hexadecimal and base64", () => {
    expect(readKey(key.toString("hex"))).toEqual(key);
    expect(readKey(key.toString("base64"))).toEqual(key);
    expect(() => readKey("password")).toThrow(errorText(/32 bytes; hint: create a key/));
  });
});
