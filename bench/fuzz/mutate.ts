import type { Random } from "../../src/core/random/random.ts";

/** Texts that programs often handle wrongly. */
const NASTY = [
  "",
  "null",
  "true",
  "-1",
  "0",
  "1e999",
  "-0",
  "99999999999999999999",
  "[]",
  "{}",
  '""',
  '"__proto__"',
  '{"__proto__":{"x":1}}',
  '{"constructor":1}',
  '"\\u0000"',
  '"\\ud800"',
  '"\u202e\ufeff"',
  `"${"x".repeat(3000)}"`,
  `${"[".repeat(200)}${"]".repeat(200)}`,
  "NaN",
  "Infinity",
  "'",
  "../../etc/passwd",
  "%00",
  "\u0000",
];

/** Returns a text unchanged in one of eight times, otherwise with one to four mutations. */
export function mutated(text: string, random: Random): string {
  if (random.integer(8) === 0) return text;
  let result = text;
  for (let left = 1 + random.integer(4); left > 0; left--) result = once(result, random);
  return result;
}

function once(text: string, random: Random): string {
  const at = random.integer(text.length + 1);
  const nasty = NASTY[random.integer(NASTY.length)]!;
  switch (random.integer(7)) {
    case 0: // another character
      return text.slice(0, at) + String.fromCharCode(random.integer(256)) + text.slice(at + 1);
    case 1: // cut off
      return text.slice(0, at);
    case 2: // a part left out
      return text.slice(0, at) + text.slice(at + random.integer(20));
    case 3: // a part twice
      return text.slice(0, at) + text.slice(Math.max(0, at - random.integer(50)));
    case 4: // something unexpected
      return text.slice(0, at) + nasty + text.slice(at);
    default:
      return valueReplaced(text, nasty, random);
  }
}

/** Replaces one value of a JSON text. */
function valueReplaced(text: string, by: string, random: Random): string {
  const values = [...text.matchAll(/:("(?:[^"\\]|\\.)*"|-?[\d.eE+-]+|true|false|null)/g)];
  const value = values[random.integer(Math.max(1, values.length))];
  if (!value) return by;
  return text.slice(0, value.index + 1) + by + text.slice(value.index + value[0].length);
}
