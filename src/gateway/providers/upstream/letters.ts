/** Letters and digits of texts in lower case, one byte each, without escaped characters such as \n. */
export function lettersOf(texts: readonly string[]): Buffer {
  const letters = Buffer.allocUnsafe(texts.reduce((sum, text) => sum + text.length, 0));
  let size = 0;
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) {
      let code = text.charCodeAt(i);
      if (code === BACKSLASH) {
        const next = text.charAt(i + 1);
        const hex = next === "u" ? text.slice(i + 2, i + 6) : "";
        if (/^[0-9a-f]{4}$/i.test(hex)) {
          code = Number.parseInt(hex, 16);
          i += 5;
        } else if (next !== "" && "nrtbf".includes(next)) i++;
      }
      const letter = code < LETTERS.length ? LETTERS[code]! : 0;
      if (letter !== 0) letters[size++] = letter;
    }
  }
  return letters.subarray(0, size);
}

const BACKSLASH = 0x5c;

/** The byte of each letter and digit in lower case, 0 for all other characters. */
const LETTERS = Uint8Array.from({ length: 128 }, (_, code) => {
  const letter = String.fromCharCode(code).toLowerCase();
  return /[a-z0-9]/.test(letter) ? letter.charCodeAt(0) : 0;
});

/**
 * The sequences of `length` letters of `short` that `long` contains. Every letter of `long` is examined once: a rolling
 * hash h = sum of c_i B^(length - 1 - i) tells where a sequence may be, and only there the letters are compared. Returns
 * undefined if there are too many such places, which only happens with texts that were chosen for it.
 */
export function windowsIn(long: Buffer, short: Buffer, length: number): Set<string> | undefined {
  const found = new Set<string>();
  if (short.length < length || long.length < length) return found;
  const sought = new Set<string>();
  const marks = new Uint8Array(2 ** BITS);
  const power = powerOf(BASE, length);
  scan(short, length, power, (place, end) => {
    sought.add(short.toString("latin1", end - length, end));
    marks[place] = 1;
    return true;
  });
  let compared = 0;
  scan(long, length, power, (place, end) => {
    if (marks[place] === 0) return true;
    const window = long.toString("latin1", end - length, end);
    if (sought.has(window)) found.add(window);
    return ++compared < MOST_COMPARED;
  });
  return compared < MOST_COMPARED ? found : undefined;
}

const BASE = 0x01000193;
const BITS = 18;
const MOST_COMPARED = 20_000;

function powerOf(base: number, exponent: number): number {
  let power = 1;
  for (let i = 0; i < exponent; i++) power = Math.imul(power, base);
  return power;
}

/** Calls `visit` with the hash and the end of each sequence, until it returns false. */
function scan(
  bytes: Buffer,
  length: number,
  power: number,
  visit: (place: number, end: number) => boolean,
): void {
  let hash = 0;
  for (let i = 0; i < bytes.length; i++) {
    const gone = i < length ? 0 : Math.imul(bytes[i - length]!, power);
    hash = (Math.imul(hash, BASE) + bytes[i]! - gone) | 0;
    if (i >= length - 1 && !visit(hash >>> (32 - BITS), i + 1)) return;
  }
}
