import { type Member, type Members, scanObject } from "./json-scan.ts";

/** Changes to the members of a JSON object. */
export interface Edits {
  /** JSON text by name. All members of a name are replaced; if there is none, one is added last. */
  readonly set?: Readonly<Record<string, string>>;
  readonly drop?: readonly string[];
}

/**
 * Edits the bytes of a JSON object. All other bytes stay as they are: the order of keys, white
 * space, escapes, 1e2 and 1.0, integers above 2^53, duplicate keys.
 */
export function editObject(json: Uint8Array, edits: Edits): Uint8Array {
  return editMembers(scanObject(json), edits);
}

/** Edits an object that has been scanned. */
export function editMembers(members: Members, { set = {}, drop = [] }: Edits): Uint8Array {
  const names = Object.keys(set);
  const found = new Set<string>();
  const cuts = new Cuts();
  let last: Member | undefined; // the last member that is kept
  let before: Member | undefined;
  for (let i = 0; i < members.size; i++) {
    const member = members.at(i);
    if (drop.some((name) => members.isNamed(i, name))) {
      // Drop one comma too: the one before or, if no earlier member is kept, the one after.
      const next = i + 1 < members.size ? members.at(i + 1).keyStart : member.valueEnd;
      if (last) cuts.replace(before!.valueEnd, member.valueEnd, "");
      else cuts.replace(member.keyStart, next, "");
    } else {
      const name = names.find((wanted) => members.isNamed(i, wanted));
      if (name !== undefined) {
        found.add(name);
        cuts.replace(member.valueStart, member.valueEnd, set[name]!);
      }
      last = member;
    }
    before = member;
  }
  const added = names
    .filter((name) => !found.has(name))
    .map((name) => `${JSON.stringify(name)}:${set[name]}`)
    .join(",");
  if (added !== "") {
    const end = before?.valueEnd ?? members.open + 1;
    cuts.replace(end, end, last ? `,${added}` : added);
  }
  return cuts.apply(members.json);
}

/** Replacements of byte ranges, which are in order and do not overlap. */
class Cuts {
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #texts: string[] = [];

  replace(start: number, end: number, text: string): void {
    this.#starts.push(start);
    this.#ends.push(end);
    this.#texts.push(text);
  }

  apply(bytes: Uint8Array): Uint8Array {
    const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const size = this.#texts.reduce(
      (sum, text, i) => sum + Buffer.byteLength(text) - (this.#ends[i]! - this.#starts[i]!),
      source.length,
    );
    const out = Buffer.allocUnsafe(size);
    let from = 0;
    let to = 0;
    for (const [i, text] of this.#texts.entries()) {
      to += source.copy(out, to, from, this.#starts[i]);
      to += out.write(text, to);
      from = this.#ends[i]!;
    }
    source.copy(out, to, from);
    return out;
  }
}
