import type { EncodeProgress } from "../../core/encoder/encode-all.ts";

export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** A line of a terminal that is drawn again and again. */
export interface StatusLine {
  show(text: string): void;
  clear(): void;
}

/** The status line of a terminal, or undefined if the stream is not a terminal. */
export function statusLine(terminal: Terminal): StatusLine | undefined {
  if (!terminal.isTTY) return undefined;
  return {
    show: (text) => void terminal.write(`${ERASE}${text.slice(0, (terminal.columns || 80) - 1)}`),
    clear: () => void terminal.write(ERASE),
  };
}

const ERASE = "\r\x1b[2K";
const WIDTH = 20;

/** A progress bar: `[=====     ]` */
export function drawBar(done: number, total: number): string {
  const filled = Math.floor((WIDTH * done) / total);
  return `[${"=".repeat(filled)}${" ".repeat(WIDTH - filled)}]`;
}

export function encodeLine({ done, total, millisecondsLeft }: EncodeProgress): string {
  return `${drawBar(done, total)} ${done}/${total} queries encoded${timeLeft(millisecondsLeft)}`;
}

/** `, 5 s left`, or nothing if the time is unknown. */
export function timeLeft(milliseconds: number | undefined): string {
  return milliseconds === undefined ? "" : `, ${duration(milliseconds)} left`;
}

/** A duration such as `1 min 5 s`, rounded up. */
export function duration(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
