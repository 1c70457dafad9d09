import type { AdminSection } from "../page/route.ts";
import { Problem } from "../parts/problem.tsx";
import { FirstStart } from "./first-start.tsx";
import { HistoryPage } from "./history-page.tsx";
import { KeysPage } from "./keys-page.tsx";
import { LearningPage } from "./learning-page.tsx";
import { ManagedProvider, useConfiguration } from "./managed.ts";
import { ModelsPage } from "./models-page.tsx";
import { ChangeNotice, InvalidNotice, ReadOnlyNotice } from "./notices.tsx";
import { ProvidersPage } from "./providers-page.tsx";
import { RoutersPage } from "./routers-page.tsx";
import { SystemPage } from "./system-page.tsx";

const SECTIONS = {
  providers: { text: "Providers", Content: ProvidersPage },
  models: { text: "Models", Content: ModelsPage },
  routers: { text: "Routers", Content: RoutersPage },
  keys: { text: "Keys", Content: KeysPage },
  learning: { text: "Voters and metrics", Content: LearningPage },
  system: { text: "System", Content: SystemPage },
  history: { text: "History", Content: HistoryPage },
} as const;

/** The pages of administration. */
export function Admin({ section }: { section: AdminSection }) {
  const { managed, problem } = useConfiguration();
  const { text, Content } = SECTIONS[section];
  return (
    <div class="mx-auto flex w-full max-w-5xl flex-col gap-4 px-3 py-6 sm:px-6">
      <nav aria-label="Administration">
        <ul class="flex flex-wrap gap-1 sm:-mx-3">
          {Object.entries(SECTIONS).map(([name, one]) => (
            <li key={name}>
              <a
                href={`#/admin/${name}`}
                aria-current={name === section ? "page" : undefined}
                class="flex min-h-10 items-center rounded-lg px-3 text-sm whitespace-nowrap text-muted hover:bg-sunken hover:text-ink aria-[current=page]:bg-tint aria-[current=page]:text-ink"
              >
                {one.text}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <h1 class="text-2xl font-semibold tracking-tight">{text}</h1>
      <Problem text={problem} />
      {managed && (
        <ManagedProvider value={managed}>
          <ReadOnlyNotice />
          <InvalidNotice />
          <ChangeNotice />
          {section === "providers" && <FirstStart />}
          <Content />
        </ManagedProvider>
      )}
    </div>
  );
}
