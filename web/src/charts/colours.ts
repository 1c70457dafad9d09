/** Colours of the style sheet, resolved for drawing on a canvas. */
export interface Colours {
  readonly ink: string;
  readonly muted: string;
  readonly line: string;
  readonly surface: string;
  readonly accent: string;
  readonly good: string;
  readonly bad: string;
  readonly strong: string;
}

export function readColours(): Colours {
  const probe = document.createElement("span");
  document.body.append(probe);
  const read = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    ink: read("ink"),
    muted: read("muted"),
    line: read("line"),
    surface: read("surface"),
    accent: read("accent"),
    good: read("good"),
    bad: read("bad"),
    strong: read("strong"),
  };
  probe.remove();
  return colours;
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
