import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";

/** The file that holds the position up to which votes were acknowledged. */
export function headFile(file: string): string {
  return `${file}-head`;
}

/** The acknowledged position of a main file: "none" if the file does not exist, "damaged" if it cannot be read. */
export function readHead(file: string): number | "none" | "damaged" {
  if (!existsSync(headFile(file))) return "none";
  const [, position = "", checksum] =
    /^(\d{16}) (\d{10})\n$/.exec(readFileSync(headFile(file), "latin1")) ?? [];
  return crc32(position) === Number(checksum) ? Number(position) : "damaged";
}

/**
 * Writes the position of the last acknowledged event to a file of its own, without waiting for the
 * disk. SQLite ignores a damaged write-ahead log as if it had not been written; this file tells
 * that something is missing.
 */
export class HeadFile {
  readonly #descriptor: number;

  constructor(file: string, position: number) {
    const name = headFile(file);
    this.#descriptor = openSync(name, existsSync(name) ? "r+" : "w", 0o600);
    this.write(position);
    // This fsync happens once, so that a power failure never leaves an empty file.
    fsyncSync(this.#descriptor);
  }

  write(position: number): void {
    const digits = String(position).padStart(16, "0");
    writeSync(this.#descriptor, `${digits} ${String(crc32(digits)).padStart(10, "0")}\n`, 0);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
