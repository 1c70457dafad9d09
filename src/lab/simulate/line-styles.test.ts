import { describe, expect, test } from "vitest";
import { COLORS, GREY, INK } from "../report/svg.ts";
import { lineStyles, STYLES } from "./plots.ts";
import { TWENTY } from "./sample.case.ts";

const ALWAYS = ["joust", "fgts-cdb", "random", "best-fixed", "zero-feedback"];

describe("line styles", () => {
  test("no two share a dash or a color, and the lightness of colors is 4 or more apart, on white and on black", () => {
    expect(new Set(STYLES.map(({ dash }) => dash)).size).toBe(STYLES.length);
    expect(new Set(STYLES.map(({ color }) => color)).size).toBe(STYLES.length);
    for (const [side, text] of [
      [0, "#222222"],
      [1, "#e6e6e6"],
    ] as const) {
      const used = STYLES.map(({ color }) => (color === INK ? text : COLORS[color]![side]));
      const lightness = used.map(lightnessOf).sort((a, b) => a - b);
      for (let i = 1; i < lightness.length; i++) {
        expect(lightness[i]! - lightness[i - 1]!).toBeGreaterThanOrEqual(4);
      }
    }
  });

  test("lines and labels have a contrast of 4.5:1, with white and with the dark page", () => {
    for (const [light, dark] of COLORS) {
      expect(1.05 / (luminance(light) + 0.05)).toBeGreaterThan(4.5);
      expect((luminance(dark) + 0.05) / (luminance("#161618") + 0.05)).toBeGreaterThan(4.5);
    }
    const further = [...lineStyles(Object.keys(TWENTY)).values()].filter((one) => !one.highlighted);
    for (const { color } of further) expect(color).toBe(GREY);
  });

  test("of twenty policies eight are highlighted, among them the five of every comparison", () => {
    const styles = lineStyles(Object.keys(TWENTY));
    expect(styles.size).toBe(20);
    const front = [...styles].filter(([, style]) => style.highlighted);
    expect(front.length).toBe(8);
    for (const name of ALWAYS) expect(styles.get(name)!.highlighted).toBe(true);
    expect(styles.get("oracle")!.highlighted).toBe(false);
    expect(new Set(front.map(([, style]) => style)).size).toBe(8);
  });

  test("a policy has the same style whatever the others are", () => {
    const few = lineStyles(ALWAYS);
    const many = lineStyles(Object.keys(TWENTY));
    for (const name of ALWAYS) expect(few.get(name)).toBe(many.get(name));
  });

  test("variants: the plain name is preferred, eight of one kind all differ", () => {
    const styles = lineStyles(["joust:alpha=1", "joust"]);
    expect(styles.get("joust")).toBe(STYLES[0]);
    const variants = Array.from({ length: 8 }, (_, i) => `fgts-cdb:sd=${i}`);
    expect(new Set(lineStyles(variants).values()).size).toBe(8);
  });
});

/** Relative luminance of WCAG 2, and CIELAB's lightness from it. */
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = Number.parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}

function lightnessOf(hex: string): number {
  const y = luminance(hex);
  return y > 0.008856 ? 116 * Math.cbrt(y) - 16 : 903.3 * y;
}
