const NAMES = ["ink", "muted", "line", "surface", "accent", "good", "bad", "strong"] as const;

/** Colours of the style sheet, resolved for drawing on a canvas. */
export type Colours = Readonly<Record<(typeof NAMES)[number], string>>;

export function readColours(): Colours {
  const probe = document.createElement("span");
  document.body.append(probe);
  const colours = NAMES.map((name) => {
    probe.style.color = `var(--${name})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colours) as Colours;
}

/** Ten colours that can be told apart in both themes and by most people with colour blindness (from Observable Plot). */
const SERIES = [
  "#4269d0",
  "#e0a100",
  "#ff725c",
  "#4bb3a0",
  "#3ca951",
  "#ff8ab7",
  "#a463f2",
  "#7fa9ef",
  "#9c6b4e",
  "#9498a0",
];

/** Colours of categories: none of them is a colour of a model. */
const CATEGORIES = [
  "#0d9488",
  "#db2777",
  "#ca8a04",
  "#2563eb",
  "#7c3aed",
  "#65a30d",
  "#ea580c",
  "#64748b",
];

/** The colour of a category: the same everywhere on the page. */
export function categoryColourOf(names: readonly string[], name: string): string {
  return CATEGORIES[Math.max(0, names.indexOf(name)) % CATEGORIES.length]!;
}

/** The colour of a model: the same everywhere on the page. */
export function colourOf(names: readonly string[], name: string): string {
  return SERIES[Math.max(0, names.indexOf(name)) % SERIES.length]!;
}
