import { useEffect, useRef } from "preact/hooks";
import type { Question } from "../conversation/conversation.ts";
import { awaitsVote } from "../conversation/exchange.ts";
import { usePage } from "../page/page.ts";
import { scrollBehavior } from "../parts/media.ts";
import { useValue } from "../state/observable.ts";
import { Announcer } from "./announcer.tsx";
import { Composer } from "./composer.tsx";
import { ExchangeView } from "./exchange-view.tsx";
import { HistoryDialog } from "./history-dialog.tsx";
import { useSuggestions } from "./suggestions.ts";
import { VoteBar } from "./vote-bar.tsx";
import { useVoteKeys } from "./vote-keys.ts";
import { Welcome } from "./welcome.tsx";

/** The page on which a person asks a question, reads two answers and votes for the better one. */
export function Arena() {
  return (
    <>
      <Questions />
      <HistoryDialog />
    </>
  );
}

/** The current conversation, or suggestions for a new one. */
function Questions() {
  const { conversation, settings, serving } = usePage();
  const exchanges = useValue(conversation.exchanges);
  const { router, models, ...options } = useValue(settings);
  const served = useValue(serving);
  const suggestions = useSuggestions();
  const last = exchanges.at(-1);
  const open = last && awaitsVote(last) ? last : undefined;
  const list = useRef<HTMLOListElement>(null);
  // After a vote the focus stays with its result; only a page that opens starts in the field.
  const isOpening = useRef(true);
  useEffect(() => {
    isOpening.current = false;
  }, []);
  useVoteKeys(conversation);

  const routerName =
    served?.routers.find((name) => name === router) ?? served?.routers[0] ?? "auto";
  const pool = served?.pools.get(routerName);
  // Models that left the pool are not requested any more.
  const chosen = models.filter((name) => name !== undefined && (pool?.includes(name) ?? true));
  const askOptions = {
    ...options,
    router: routerName,
    models: chosen.slice(0, options.isDuel ? 2 : 1) as string[],
  };
  const ask = (question: Question) => {
    (document.activeElement as HTMLElement | null)?.blur();
    conversation.ask(question, askOptions);
  };
  const askFrom = (id: string, question: Question) =>
    conversation.askFrom(id, question, askOptions);
  const askNext = () => {
    const used = new Set(exchanges.map(({ prompt }) => prompt));
    const next = suggestions.find(({ query }) => !used.has(query)) ?? suggestions[0];
    if (!next) return;
    conversation.startOver();
    ask({ prompt: next.query });
  };

  // Scrolls a new question to the top of the window, so that its answers have room below.
  useEffect(() => {
    if (last && Date.now() - last.at < 1000) {
      const behavior = scrollBehavior();
      list.current?.lastElementChild?.scrollIntoView({ block: "start", behavior });
    }
  }, [last?.id]);

  if (!last) return <Welcome suggestions={suggestions} ask={ask} router={routerName} />;
  return (
    <>
      <h1 class="sr-only">Arena</h1>
      <ol ref={list} class="mx-auto flex w-full max-w-7xl flex-1 flex-col px-3 sm:px-6">
        {exchanges.map((exchange, i) => (
          <li
            key={exchange.id}
            class="scroll-mt-14 pt-6 pb-4 last:min-h-[calc(100dvh-14rem)]"
            aria-label={`Question ${i + 1}`}
          >
            <ExchangeView
              exchange={exchange}
              isLast={exchange === last}
              askAgain={() => ask(exchange)}
              askFrom={(question) => askFrom(exchange.id, question)}
              askNext={suggestions.length > 0 ? askNext : undefined}
            />
          </li>
        ))}
      </ol>
      <Announcer exchange={last} />
      <div class="sticky bottom-0 z-10 border-t border-line bg-page/95 backdrop-blur">
        <div class="mx-auto max-w-7xl px-3 pt-2.5 pb-[max(0.625rem,env(safe-area-inset-bottom))] sm:px-6">
          {open ? (
            <VoteBar
              exchange={open}
              vote={(winner) => conversation.vote(open.id, { winner })}
              skip={() => conversation.skip(open.id)}
              stop={() => conversation.stop()}
            />
          ) : (
            <Composer ask={ask} router={routerName} isFollowUp takesFocus={isOpening.current} />
          )}
        </div>
      </div>
    </>
  );
}
