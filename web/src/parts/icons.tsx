import type { JSX } from "preact";

/** An icon. Icons are decoration: a text or a label next to them has the meaning. */
const icon =
  (content: JSX.Element, size = 18) =>
  () => (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.9"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      class="shrink-0"
    >
      {content}
    </svg>
  );

export const Send = icon(<path d="M12 19V5M6 11l6-6 6 6" />);
export const Stop = icon(<rect x="7" y="7" width="10" height="10" rx="1.5" fill="currentColor" />);
export const Next = icon(<path d="M5 12h14M13 6l6 6-6 6" />);
export const Shuffle = icon(
  <path d="M4 7h3l10 10h3M4 17h3l3-3M14 10l3-3h3M18 4l3 3-3 3M18 14l3 3-3 3" />,
);
export const Picture = icon(
  <>
    <rect x="4" y="5" width="16" height="14" rx="2" />
    <circle cx="9" cy="10" r="1.6" />
    <path d="m5 17 5-4 3 2.5 3-3.5 3 4" />
  </>,
);
export const Menu = icon(<path d="M4 7h16M4 12h16M4 17h16" />);
export const Sliders = icon(<path d="M4 8h9M17 8h3M4 16h3M11 16h9M15 5.5v5M9 13.5v5" />);
export const Clock = icon(
  <>
    <circle cx="12" cy="12" r="8" />
    <path d="M12 7.5V12l3 2" />
  </>,
);
export const Pencil = icon(<path d="m5 19 1-4L16 5l3 3L9 18z" />, 16);
export const Again = icon(<path d="M19 12a7 7 0 1 1-2.2-5.1M19 4v4h-4" />, 16);
export const Undo = icon(<path d="M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3" />, 16);
export const Bin = icon(<path d="M5 7h14M9 7V5h6v2M7 7l1 12h8l1-12" />, 16);
export const Cross = icon(<path d="M6 6l12 12M18 6 6 18" />, 16);
export const Plus = icon(<path d="M12 5v14M5 12h14" />);
export const Check = icon(<path d="m5 12.5 4.5 4.5L19 7.5" />, 16);
export const ThumbUp = icon(
  <path d="M7 11v9H4v-9zM7 11l4-7c1.4 0 2.2 1 2 2.3L12.5 9H18a2 2 0 0 1 2 2.4l-1.3 6.8A2.2 2.2 0 0 1 16.5 20H7" />,
);
export const ThumbDown = icon(
  <path d="M7 13V4H4v9zM7 13l4 7c1.4 0 2.2-1 2-2.3L12.5 15H18a2 2 0 0 0 2-2.4l-1.3-6.8A2.2 2.2 0 0 0 16.5 4H7" />,
);
export const Person = icon(
  <>
    <circle cx="12" cy="8" r="4" />
    <path d="M4.5 20a7.5 7.5 0 0 1 15 0" />
  </>,
);
export const Sun = icon(
  <>
    <circle cx="12" cy="12" r="4" />
    <path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6l1.4 1.4M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4" />
  </>,
);
export const Moon = icon(<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z" />);
export const HalfMoon = icon(
  <>
    <circle cx="12" cy="12" r="8" />
    <path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor" />
  </>,
);

export const Logo = () => (
  <svg width="26" height="26" viewBox="0 0 24 24" aria-hidden="true" class="shrink-0">
    <rect width="24" height="24" rx="6" class="fill-accent" />
    <path
      d="M6 18 17 7M18 18 7 7"
      class="stroke-on-accent"
      stroke-width="2.2"
      stroke-linecap="round"
    />
    <circle cx="17.4" cy="6.6" r="2" class="fill-on-accent" />
    <circle cx="6.6" cy="6.6" r="2" class="fill-on-accent" />
  </svg>
);
