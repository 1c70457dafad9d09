/** The compact binary form of a ballot, which vote tokens contain. */
import { timeOfId } from "../../store/decision-id.ts";
import { halfBytesOf, vectorOfHalf } from "../../store/vector.ts";
import type { Ballot } from "./ballot.ts";

/**
 * Layout: flags, expiry (seconds, 4 bytes), id (16), posterior version (6), propensity (8), router,
 * encoder, owner, the models and, if known, their utilities (8 each), the embedding in half precision
 * (the rest). Texts follow their length. Names of models are padded to the longest candidate, so that
 * the length of a token does not depend on which models answered.
 */
export function bytesOfBallot(ballot: Ballot, until: number, withX: boolean): Buffer {
  const { id, version, propensity, router, encoder, owner, models, candidates, x } = ballot;
  const bytes = Buffer.alloc(sizeOfBallot(ballot, withX));
  bytes[0] =
    (withX ? WITH_X : 0) |
    (owner === undefined ? 0 : WITH_OWNER) |
    (ballot.isKept ? KEPT : 0) |
    (ballot.isLater ? LATER : 0) |
    (models.length << MODELS_SHIFT);
  bytes.writeUInt32BE(Math.floor(until / 1000), 1);
  bytes.write(id.replaceAll("-", ""), 5, "hex");
  bytes.writeUIntBE(version, 21, 6);
  bytes.writeDoubleBE(propensity, 27);
  let offset = HEAD;
  for (const text of [router, encoder, owner ?? ""]) offset = writeText(bytes, offset, text);
  const longest = longestName(ballot);
  for (const name of models) offset = writeText(bytes, offset, name, longest);
  for (const name of models) {
    const value = ballot.values?.[candidates.indexOf(name)] ?? Number.NaN;
    offset = bytes.writeDoubleBE(value, offset);
  }
  if (withX) bytes.set(halfBytesOf(x!), offset);
  return bytes;
}

/** Size in bytes of what `bytesOfBallot` writes. */
export function sizeOfBallot(ballot: Ballot, withX: boolean): number {
  const { router, encoder, owner = "", models, x } = ballot;
  const texts = Buffer.byteLength(router) + Buffer.byteLength(encoder) + Buffer.byteLength(owner);
  const perModel = LENGTHS + longestName(ballot) + 8;
  return HEAD + 3 * LENGTHS + texts + models.length * perModel + (withX ? 2 * x!.length : 0);
}

function longestName({ candidates, models }: Ballot): number {
  let longest = 0;
  for (const name of candidates) longest = Math.max(longest, Buffer.byteLength(name));
  for (const name of models) longest = Math.max(longest, Buffer.byteLength(name));
  return longest;
}

const HEAD = 35;
const WITH_X = 1;
const WITH_OWNER = 2;
const KEPT = 4;
const LATER = 8;
const MODELS_SHIFT = 4;

/** Bytes before a text: its length, and its length with padding. */
const LENGTHS = 4;

/**
 * Writes a text after its length, padded with zeros to the size of the longest one. Returns the offset
 * after it. The buffer must be filled with zeros before.
 */
function writeText(bytes: Buffer, offset: number, value: string, longest?: number): number {
  const length = bytes.write(value, offset + LENGTHS);
  bytes.writeUInt16BE(length, offset);
  bytes.writeUInt16BE(longest ?? length, offset + 2);
  return offset + LENGTHS + (longest ?? length);
}

/** Reads a ballot, which `bytesOfBallot` has written, with its expiry in milliseconds since 1970. */
export function ballotOfBytes(bytes: Buffer): { readonly ballot: Ballot; readonly until: number } {
  let offset = HEAD;
  const nextText = () => {
    const [length, longest] = [bytes.readUInt16BE(offset), bytes.readUInt16BE(offset + 2)];
    const value = bytes.toString("utf8", offset + 4, offset + 4 + length);
    offset += 4 + longest;
    return value;
  };
  const flags = bytes[0]!;
  const hex = bytes.toString("hex", 5, 21);
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  const [router, encoder, owner] = [nextText(), nextText(), nextText()];
  const models = Array.from({ length: flags >> MODELS_SHIFT }, nextText);
  const values = models.map((_, i) => bytes.readDoubleBE(offset + 8 * i));
  offset += 8 * models.length;
  // The utility of a failed answer is NaN. It is never used, because the name of its model is
  // empty.
  const isKnown = values.some((value) => !Number.isNaN(value));
  return {
    until: 1000 * bytes.readUInt32BE(1),
    ballot: {
      id,
      at: timeOfId(id)!,
      router,
      encoder,
      owner: flags & WITH_OWNER ? owner : undefined,
      candidates: models,
      models,
      values: isKnown ? values : undefined,
      propensity: bytes.readDoubleBE(27),
      version: bytes.readUIntBE(21, 6),
      x: flags & WITH_X ? vectorOfHalf(bytes.subarray(offset)) : undefined,
      isKept: (flags & KEPT) !== 0,
      ...((flags & LATER) !== 0 && { isLater: true }),
    },
  };
}
