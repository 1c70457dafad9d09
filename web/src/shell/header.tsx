import { isAdmin, session } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import type { Theme } from "../page/theme.ts";
import { useCurrentInView } from "../parts/current-in-view.ts";
import { HalfMoon, Logo, Moon, Sun } from "../parts/icons.tsx";
import { useValue } from "../state/observable.ts";
import { Account } from "./account.tsx";

const LINKS = [
  { page: "arena", href: "#/", text: "Arena" },
  { page: "dashboard", href: "#/dashboard", text: "Dashboard" },
  { page: "requests", href: "#/requests", text: "Requests" },
  { page: "setup", href: "#/setup", text: "Setup" },
] as const;
const ADMIN = { page: "admin", href: "#/admin", text: "Admin" } as const;

export function Header() {
  const { route } = usePage();
  const { page } = useValue(route);
  const navigation = useCurrentInView<HTMLElement>(page);
  const links = isAdmin(useValue(session)) ? [...LINKS, ADMIN] : LINKS;
  return (
    <header class="sticky top-0 z-20 border-b border-line bg-page/95 backdrop-blur">
      <div class="mx-auto flex h-14 max-w-[90rem] items-center gap-2 px-3 sm:gap-6 sm:px-6">
        <a href="#/" class="flex items-center gap-2 text-base font-semibold tracking-tight">
          <Logo />
          <span class="max-[26rem]:sr-only">Joust</span>
        </a>
        <nav
          ref={navigation}
          aria-label="Pages"
          class="flex h-full min-w-0 items-stretch overflow-x-auto [scrollbar-width:none]"
        >
          {links.map((link) => (
            <a
              key={link.page}
              href={link.href}
              aria-current={page === link.page ? "page" : undefined}
              class="flex items-center border-y-2 border-transparent px-2 text-sm whitespace-nowrap text-muted hover:text-ink aria-[current=page]:border-b-accent aria-[current=page]:text-ink sm:px-3"
            >
              {link.text}
            </a>
          ))}
        </nav>
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

/** Shows whether the sandbox or real models answer. */
function Pool() {
  const serving = useValue(usePage().serving);
  if (!serving) return null;
  return (
    <a
      href="#/setup"
      class="hidden rounded-full border border-line px-2.5 py-0.5 text-xs text-muted hover:border-strong hover:text-ink sm:block"
    >
      {serving.isSandbox ? "Sandbox" : `${serving.models.length} models`}
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
