import fc from "fast-check";

/** Random values that the requests and answers of all dialects are made of. */

export const text = fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" });
export const word = fc.stringMatching(/^[a-z]{1,6}$/);
export const id = (prefix: string) => word.map((each) => `${prefix}_${each}`);
export const tokens = fc.integer({ min: 1, max: 40_000 });
export const url = word.map((each) => `https://example.com/${each}`);
export const base64 = fc.base64String({ minLength: 4, maxLength: 8 });
export const ratio = fc.constantFrom(0, 0.25, 0.5, 1);

/** A JSON object with simple members. */
export const object = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,4}$/),
  fc.oneof(fc.integer(), text, fc.boolean()),
  { maxKeys: 2, noNullPrototype: true },
);
export const json = object.map((value) => JSON.stringify(value));
export const schema = object.map((properties) => ({ type: "object" as const, properties }));
export const metadata = fc.dictionary(word, text, {
  minKeys: 1,
  maxKeys: 2,
  noNullPrototype: true,
});

/** An object in which all members may be missing, except the required ones. */
export function members<T extends object, K extends keyof T = never>(
  model: { [M in keyof T]: fc.Arbitrary<T[M]> },
  required: K[] = [],
): fc.Arbitrary<Partial<T> & Pick<T, K>> {
  return fc.record(model, { requiredKeys: required }) as fc.Arbitrary<Partial<T> & Pick<T, K>>;
}

export const list = <T>(of: fc.Arbitrary<T>, minLength = 0, maxLength = 3): fc.Arbitrary<T[]> =>
  fc.array(of, { minLength, maxLength });

export const usage = fc
  .tuple(...([0, 1, 2, 3, 4] as const).map(() => fc.integer({ min: 0, max: 1000 })))
  .map(([plain = 0, cached = 0, writes = 0, completion = 0, reasoning = 0]) => ({
    plain,
    cached,
    writes,
    hourWrites: Math.floor(writes / 2),
    prompt: plain + cached + writes,
    completion: completion + reasoning,
    reasoning,
    /** Cost that a few upstreams report, such as OpenRouter. */
    reported: plain % 2 === 1 ? { cost: plain / 1024 } : {},
  }));

export const logprob = fc.record({
  token: text,
  logprob: fc.constantFrom(-0.5, -1),
  bytes: fc.constant<number[]>([97]),
  top_logprobs: fc.constant<never[]>([]),
});

/** A request that may ask for a stream. */
export type Streamable<T> = Omit<T, "stream"> & { stream?: true };
