import { infiniteField } from "../../wire/infinite.ts";
import { type Edits, isRecord, type Json, type Members } from "../../wire/json.ts";
import type { Adaptation } from "../upstream/upstream.ts";

export interface Adapted {
  readonly edits: Edits;
  readonly adapted: readonly Adaptation[];
}

/** A request and the changes to it. */
export class EditedRequest implements Adapted {
  readonly #members: Members;
  readonly #set = new Map<string, string>();
  readonly #dropped = new Set<string>();
  readonly adapted: Adaptation[] = [];

  constructor(members: Members) {
    this.#members = members;
  }

  get edits(): Edits {
    return { set: Object.fromEntries(this.#set), drop: [...this.#dropped] };
  }

  /** Value of a member after the changes so far; undefined if it is missing or null. */
  value(name: string): unknown {
    const text = this.#text(name);
    return text === undefined ? undefined : (JSON.parse(text) ?? undefined);
  }

  /** Whether the text of a member contains a word, which costs less than parsing it. */
  mentions(name: string, word: string): boolean {
    const set = this.#set.get(name);
    if (set !== undefined) return set.includes(word);
    const member = this.#members.find(name);
    if (!member) return false;
    const { buffer, byteOffset } = this.#members.json;
    const { valueStart, valueEnd } = member;
    return Buffer.from(buffer, byteOffset + valueStart, valueEnd - valueStart).includes(word);
  }

  /** Changes the value of a member. One with a number that is too large to be written again keeps its bytes. */
  set(name: string, value: unknown, adapted: readonly Adaptation[]): void {
    if (infiniteField(value) !== undefined) return;
    this.#set.set(name, JSON.stringify(value));
    this.adapted.push(...adapted);
  }

  rename(from: string, to: string): void {
    const value = this.value(from);
    const text = this.#text(from);
    if (text === undefined) return;
    this.#remove(from);
    if (value === undefined || this.value(to) !== undefined) return;
    this.#dropped.delete(to);
    this.#set.set(to, text);
    this.adapted.push({ param: from, change: "renamed", to });
  }

  drop(path: string): void {
    const [name = "", inner] = path.split(".");
    if (inner === undefined) {
      // A member that is null says nothing, so leaving it out is no change to report.
      if (this.value(name) !== undefined) this.adapted.push({ param: name, change: "dropped" });
      this.#remove(name);
      return;
    }
    const value = this.value(name);
    if (!isRecord(value) || !Object.hasOwn(value, inner)) return;
    const rest = Object.entries(value).filter(([key]) => key !== inner);
    if (rest.length === 0) {
      this.#remove(name);
      this.adapted.push({ param: path, change: "dropped" });
      return;
    }
    this.set(name, Object.fromEntries(rest) satisfies Json, [{ param: path, change: "dropped" }]);
  }

  /** Replaces the value of a member, or of a member of a member, if there is one. */
  replace(path: string, change: (value: unknown) => unknown): void {
    const [name = "", inner] = path.split(".");
    const whole = this.value(name);
    const value = inner !== undefined && isRecord(whole) ? whole[inner] : whole;
    if (value === undefined || value === null || (inner !== undefined && !isRecord(whole))) return;
    const changed = change(value);
    if (changed === value) return;
    const own = isRecord(whole) && inner !== undefined ? { ...whole, [inner]: changed } : changed;
    this.set(name, own, [{ param: path, change: "limited", to: String(changed) }]);
  }

  limit(name: string, max: number): void {
    const value = this.value(name);
    if (typeof value !== "number" || value <= max) return;
    this.set(name, max, [{ param: name, change: "limited", to: max }]);
  }

  /** Removes a member and sets another one in its place. */
  move(name: string, to: string, value: unknown): void {
    this.#remove(name);
    this.set(to, value, [{ param: name, change: "moved", to }]);
  }

  #remove(name: string): void {
    this.#set.delete(name);
    this.#dropped.add(name);
  }

  #text(name: string): string | undefined {
    const set = this.#set.get(name);
    if (set !== undefined || this.#dropped.has(name)) return set;
    const member = this.#members.find(name);
    if (!member) return undefined;
    const { json } = this.#members;
    return Buffer.from(json.subarray(member.valueStart, member.valueEnd)).toString();
  }
}
