import { isAdmin, session } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import type { Theme } from "../page/theme.ts";
import { DropMenu } from "../parts/drop-menu.tsx";
import { HalfMoon, Logo, Menu, Moon, Sun } from "../parts/icons.tsx";
import { useMedia } from "../parts/media.ts";
import { useValue } from "../state/observable.ts";
import { plural } from "../text/format.ts";
import { Account } from "./account.tsx";

const LINKS = [
  { page: "arena", href: "#/", text: "Arena" },
  { page: "dashboard", href: "#/dashboard", text: "Dashboard" },
  { page: "requests", href: "#/requests", text: "Requests" },
  { page: "setup", href: "#/setup", text: "Setup" },
] as const;
const ADMIN = { page: "admin", href: "#/admin", text: "Admin" } as const;

export function Header() {
  return (
    <header class="sticky top-0 z-20 border-b border-line bg-page/95 backdrop-blur">
      <div class="mx-auto flex h-14 max-w-[90rem] items-center gap-2 px-3 sm:gap-6 sm:px-6">
        <a href="#/" class="flex items-center gap-2 text-base font-semibold tracking-tight">
          <Logo />
          Joust
        </a>
        <Pages />
        <div class="ml-auto flex items-center gap-1 sm:gap-3">
          <Pool />
          <ConnectionState />
          <Account />
          <ThemeButton />
        </div>
      </div>
    </header>
  );
}

/** Links to the pages; on narrow screens a menu with the name of the current page. */
function Pages() {
  const { page } = useValue(usePage().route);
  const links = isAdmin(useValue(session)) ? [...LINKS, ADMIN] : LINKS;
  const isNarrow = useMedia("(max-width: 47.99rem)");
  const list = links.map((link) => (
    <a
      key={link.page}
      href={link.href}
      aria-current={page === link.page ? "page" : undefined}
      class={isNarrow ? IN_MENU : IN_ROW}
    >
      {link.text}
    </a>
  ));
  if (!isNarrow) {
    return (
      <nav aria-label="Pages" class="flex h-full items-stretch">
        {list}
      </nav>
    );
  }
  const name = links.find((link) => link.page === page)?.text ?? "Pages";
  return (
    <DropMenu
      side="left"
      class="px-2.5 text-sm"
      button={
        <>
          <Menu />
          <span class="sr-only">Pages, now </span>
          {name}
        </>
      }
    >
      <nav aria-label="Pages" class="flex w-44 flex-col p-1.5">
        {list}
      </nav>
    </DropMenu>
  );
}

const LINK =
  "flex items-center text-sm whitespace-nowrap text-muted hover:text-ink aria-[current=page]:text-ink";
const IN_ROW = `${LINK} border-y-2 border-transparent px-3 aria-[current=page]:border-b-accent`;
const IN_MENU = `${LINK} min-h-10 rounded-lg px-3 hover:bg-sunken aria-[current=page]:bg-tint`;

/** Shows whether the sandbox or real models answer. */
function Pool() {
  const serving = useValue(usePage().serving);
  if (!serving) return null;
  return (
    <a
      href="#/setup"
      class="hidden rounded-full border border-line px-2.5 py-0.5 text-xs text-muted hover:border-strong hover:text-ink sm:block"
    >
      {serving.isSandbox
        ? "Sandbox"
        : plural(serving.models.filter(({ disabled }) => !disabled).length, "model")}
    </a>
  );
}

/** The state of the connection to the gateway. */
function ConnectionState() {
  const { state } = useValue(usePage().feed.connection);
  const [colour, text] = STATES[state];
  return (
    <span class="flex items-center gap-1.5 px-1 text-xs text-muted" title={text}>
      <span class={`size-2 rounded-full ${colour}`} />
      <span class="sr-only lg:not-sr-only">{text}</span>
    </span>
  );
}

const STATES = {
  connecting: ["bg-strong", "Connecting"],
  live: ["bg-good", "Live"],
  lost: ["bg-bad", "No connection"],
  off: ["bg-strong", "No live updates"],
} as const;

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const THEME_ICONS = { system: HalfMoon, light: Sun, dark: Moon };
const THEME_NAMES = { system: "same as the system", light: "light", dark: "dark" };

function ThemeButton() {
  const { theme } = usePage();
  const value = useValue(theme);
  const Icon = THEME_ICONS[value];
  return (
    <button
      type="button"
      class="flex size-10 items-center justify-center rounded-lg text-muted hover:bg-sunken hover:text-ink"
      aria-label={`Colours: ${THEME_NAMES[value]}`}
      title={`Colours: ${THEME_NAMES[value]}`}
      onClick={() => theme.set(THEMES[(THEMES.indexOf(value) + 1) % THEMES.length]!)}
    >
      <Icon />
    </button>
  );
}
