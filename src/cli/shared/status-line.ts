import type { EncodeProgress } from "../../core/encoder/encode-all.ts";

/** One line on a terminal that draws over itself; nothing in a pipe. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface StatusLine {
  show(text: string): void;
  clear(): void;
}

export function statusLine(terminal: Terminal): StatusLine | undefined {
  if (!terminal.isTTY) return undefined;
  return {
    show: (text) => void terminal.write(`${ERASE}${text.slice(0, (terminal.columns || 80) - 1)}`),
    clear: () => void terminal.write(ERASE),
  };
}

const ERASE = "\r\x1b[2K";
const BAR = 20;

/** `[=====     ]` */
export function barOf(done: number, total: number): string {
  const filled = Math.floor((BAR * done) / total);
  return `[${"=".repeat(filled)}${" ".repeat(BAR - filled)}]`;
}

export function encodeLine({ done, total, millisecondsLeft }: EncodeProgress): string {
  return `${barOf(done, total)} ${done}/${total} queries encoded${leftOf(millisecondsLeft)}`;
}

/** `, 5 s left`, or nothing where it is not known. */
export function leftOf(milliseconds: number | undefined): string {
  return milliseconds === undefined ? "" : `, ${duration(milliseconds)} left`;
}

/** `1 min 5 s`, rounded up. */
export function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
