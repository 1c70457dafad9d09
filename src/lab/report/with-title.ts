import { textWidth } from "./labels.ts";
import { INK, PAPER } from "./svg.ts";
import { htmlText } from "./table.ts";

const SIZE = 13;
const HEAD = 30;

/** A figure for a file of its own, with its title above. In the report the title is a heading. */
export function withTitle(svg: string, title: string): string {
  const end = svg.indexOf(">") + 1;
  const open = svg.slice(0, end);
  const side = (name: string) => Number(open.match(new RegExp(` ${name}="([\\d.]+)"`))?.[1]);
  const width = Math.max(side("width"), Math.ceil(textWidth(title, SIZE)) + 24);
  const height = side("height") + HEAD;
  const grown = open
    .replace(/ width="[^"]*"/, ` width="${width}"`)
    .replace(/ height="[^"]*"/, ` height="${height}"`)
    .replace(/ viewBox="[^"]*"/, ` viewBox="0 ${-HEAD} ${width} ${height}"`);
  const paper = `<rect y="${-HEAD}" width="${width}" height="${HEAD}" fill="${PAPER}"/>`;
  const text = `<text x="3" y="${-HEAD / 2 + 6}" font-size="${SIZE}px" font-weight="600" text-anchor="start" fill="${INK}">${htmlText(title)}</text>`;
  return `${grown}${paper}${text}${svg.slice(end)}`;
}
