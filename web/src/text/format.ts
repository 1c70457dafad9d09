/** Formats an amount of US dollars: $0.00042, $1.23, $12,345. */
export function dollars(value: number): string {
  if (value === 0) return "$0";
  const size = Math.abs(value);
  const sign = value < 0 ? "\u2212" : "";
  if (size < 1e-7) return `${sign}<$0.0000001`;
  if (size < 0.995) {
    const digits = Math.min(9, 1 - Math.floor(Math.log10(size)));
    return `${sign}$${size.toFixed(Math.max(2, digits))}`;
  }
  return `${sign}$${size.toLocaleString("en", {
    minimumFractionDigits: size < 1000 ? 2 : 0,
    maximumFractionDigits: size < 1000 ? 2 : 0,
  })}`;
}

/** Formats prices of input and output in US dollars, or one number if they are equal. */
export function prices({
  input,
  output,
}: {
  readonly input: number;
  readonly output: number;
}): string {
  return input === output ? dollars(input) : `${dollars(input)}, ${dollars(output)}`;
}

/** Formats a share as a percentage: 71%, 4.2%, 0.03%. */
export function percent(share: number): string {
  const size = Math.abs(100 * share);
  const sign = share < 0 ? "\u2212" : "";
  if (size === 0 || size >= 9.95) return `${sign}${Math.round(size)}%`;
  return `${sign}${size.toFixed(size >= 0.095 ? 1 : 2)}%`;
}

/** Formats a probability, which is never 0% or 100%: nothing is that certain. */
export function probability(value: number): string {
  if (value > 0.99) return "over 99%";
  return value < 0.01 ? "under 1%" : percent(value);
}

/** Formats a number with its sign: +0.123, −0.123; without a sign if it rounds to zero. */
export function signed(value: number, digits = 3): string {
  const text = value.toFixed(digits);
  if (Number(text) === 0) return text.replace("-", "");
  return value >= 0 ? `+${text}` : text.replace("-", "\u2212");
}

/** Formats a duration: 340 ms, 1.2 s, 2 min. */
export function duration(milliseconds: number): string {
  if (milliseconds < 995) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 99_500) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${Math.round(milliseconds / 60_000)} min`;
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** Formats a number with its noun: 1 vote, 2 votes. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Formats the time since a moment: just now, 12 s ago, 5 min ago, 3 h ago, Nov 14. */
export function ago(time: number, now: number): string {
  const seconds = Math.max(0, (now - time) / 1000);
  if (seconds < 5) return "just now";
  if (seconds < 60) return `${Math.floor(seconds)} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(time).toLocaleDateString("en", { day: "numeric", month: "short" });
}

export function clockTime(time: number): string {
  return new Date(time).toLocaleString("en", {
    dateStyle: "medium",
    timeStyle: "medium",
    ...DAY_CLOCK,
  });
}

/** Labels of a time axis. The longer its span, the coarser the labels: 12:05:30, 12:05, Nov 14. */
export function timeLabels(times: readonly string[]): string[] {
  const all = times.map((time) => new Date(time));
  const span = all.length < 2 ? 0 : all.at(-1)!.getTime() - all[0]!.getTime();
  return all.map((time) =>
    span > 2 * DAY_MS
      ? time.toLocaleDateString("en", { day: "numeric", month: "short" })
      : time.toLocaleTimeString("en", {
          hour: "2-digit",
          minute: "2-digit",
          ...DAY_CLOCK,
          ...(span < 10 * MINUTE_MS && { second: "2-digit" }),
        }),
  );
}

/** Hours from 0 to 23. In many browsers, `hour12: false` shows midnight as 24:00. */
const DAY_CLOCK = { hourCycle: "h23" } as const;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** The text with a capital letter at its beginning. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
