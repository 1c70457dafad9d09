import { useEffect, useRef } from "preact/hooks";
import { session } from "../api/client.ts";
import { Arena } from "../arena/arena.tsx";
import { usePage } from "../page/page.ts";
import type { Route } from "../page/route.ts";
import { Loading } from "../parts/loading.tsx";
import { useValue } from "../state/observable.ts";
import { Banner } from "./banner.tsx";
import { Header } from "./header.tsx";
import { KeyDialog } from "./key-dialog.tsx";
import { Lazy } from "./lazy.tsx";
import { SandboxOffer } from "./sandbox-offer.tsx";
import { SignedOut } from "./signed-out.tsx";

export function App() {
  const page = usePage();
  const route = useValue(page.route);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  // A search that changes on the page of requests is the same place.
  const place =
    route.page === "decision" ? route.id : route.page === "admin" ? route.section : route.page;
  const current = useValue(session);
  // After a session has ended, the page keeps what the person was doing.
  const isAdmitted = useRef(false);
  if (current?.required === false || current?.key) isAdmitted.current = true;
  const changes = usePersonChanges(current?.key?.name);
  useEffect(() => {
    document.title = TITLES[route.page];
    // A screen reader continues at the start of the new page.
    if (!isFirst.current) {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [place]);
  return (
    <div class="flex min-h-dvh flex-col">
      <button
        type="button"
        class="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded focus:bg-surface focus:px-3 focus:py-2"
        onClick={() => main.current?.focus()}
      >
        Skip to the content
      </button>
      <Header />
      <Banner />
      <SandboxOffer />
      <main ref={main} tabIndex={-1} class="flex flex-1 flex-col outline-none">
        {isAdmitted.current ? (
          <Content key={changes} route={route} />
        ) : current ? (
          <SignedOut />
        ) : (
          <Loading />
        )}
      </main>
      <KeyDialog />
    </div>
  );
}

/** Counts how often the person who is signed in has changed, so that no page keeps what it read for the one before. */
function usePersonChanges(name: string | undefined): number {
  const last = useRef({ name, changes: 0 });
  const { current } = last;
  const isOther = name !== undefined && current.name !== undefined && name !== current.name;
  const changes = current.changes + (isOther ? 1 : 0);
  last.current = { name: name ?? current.name, changes };
  return changes;
}

const TITLES: Readonly<Record<Route["page"], string>> = {
  arena: "Joust",
  dashboard: "Dashboard · Joust",
  setup: "Setup · Joust",
  requests: "Requests · Joust",
  decision: "Decision · Joust",
  admin: "Administration · Joust",
  unknown: "Joust",
};

function Content({ route }: { route: Route }) {
  switch (route.page) {
    case "arena":
      return <Arena />;
    case "dashboard":
      return <Lazy key="dashboard" load={loadDashboard} props={{}} />;
    case "setup":
      return <Lazy key="setup" load={loadSetup} props={{}} />;
    case "requests":
      return <Lazy key="requests" load={loadRequests} props={{ search: route.search }} />;
    case "decision":
      return <Lazy key="decision" load={loadDecision} props={{ id: route.id }} />;
    case "admin":
      return <Lazy key="admin" load={loadAdmin} props={{ section: route.section }} />;
    case "unknown":
      return (
        <p class="m-auto p-8 text-muted">
          This page does not exist.{" "}
          <a href="#/" class="text-accent underline">
            Go to the arena
          </a>
        </p>
      );
  }
}

const loadDashboard = () => import("../dashboard/dashboard.tsx").then((m) => m.Dashboard);
const loadAdmin = () => import("../admin/admin.tsx").then((m) => m.Admin);
const loadSetup = () => import("../setup/setup.tsx").then((m) => m.Setup);
const loadRequests = () => import("../requests/requests-page.tsx").then((m) => m.RequestsPage);
const loadDecision = () => import("../decision/decision-page.tsx").then((m) => m.DecisionPage);
