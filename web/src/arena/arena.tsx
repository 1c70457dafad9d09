import { useEffect, useRef } from "preact/hooks";
import { scrollBehavior } from "../parts/media.ts";
import { usePage } from "../shell/page.ts";
import { useValue } from "../state/observable.ts";
import { Announcer } from "./announcer.tsx";
import { Composer } from "./composer.tsx";
import { useSuggestions } from "./suggestions.ts";
import { isOpen } from "./turn.ts";
import { TurnView } from "./turn-view.tsx";
import { VoteBar } from "./vote-bar.tsx";
import { useVoteKeys } from "./vote-keys.ts";
import { Welcome } from "./welcome.tsx";

/** Ask once, read two answers, say which is better. */
export function Arena() {
  const { conversation, settings, serving } = usePage();
  const turns = useValue(conversation.turns);
  const { isDuel, router, tradeoff } = useValue(settings);
  const served = useValue(serving);
  const suggestions = useSuggestions();
  const last = turns.at(-1);
  const open = last && isOpen(last) ? last : undefined;
  const list = useRef<HTMLOListElement>(null);
  useVoteKeys(conversation);

  const routerName =
    served?.routers.find((name) => name === router) ?? served?.routers[0] ?? "auto";
  const ask = (prompt: string) => {
    (document.activeElement as HTMLElement | null)?.blur();
    conversation.ask(prompt, { router: routerName, isDuel, tradeoff });
  };
  const askNext = () => {
    const asked = new Set(turns.map(({ prompt }) => prompt));
    const next = suggestions.find(({ query }) => !asked.has(query)) ?? suggestions[0];
    if (!next) return;
    conversation.startOver();
    ask(next.query);
  };

  // A new question begins at the top of the window, with room for its answers below.
  useEffect(() => {
    if (last && Date.now() - last.at < 1000) {
      const behavior = scrollBehavior();
      list.current?.lastElementChild?.scrollIntoView({ block: "start", behavior });
    }
  }, [last?.id]);

  if (!last) return <Welcome suggestions={suggestions} ask={ask} />;
  return (
    <>
      <h1 class="sr-only">Arena</h1>
      <ol ref={list} class="mx-auto flex w-full max-w-7xl flex-1 flex-col px-3 sm:px-6">
        {turns.map((turn) => (
          <li
            key={turn.id}
            class="scroll-mt-14 pt-6 pb-4 last:min-h-[calc(100dvh-14rem)]"
            aria-label={`Turn ${turns.indexOf(turn) + 1}`}
          >
            <TurnView
              turn={turn}
              isLast={turn === last}
              vote={(choice) => conversation.vote(turn.id, choice)}
              askAgain={() => ask(turn.prompt)}
              askNext={suggestions.length > 0 ? askNext : undefined}
            />
          </li>
        ))}
      </ol>
      <Announcer turn={last} />
      <div class="sticky bottom-0 z-10 border-t border-line bg-page/95 backdrop-blur">
        <div class="mx-auto max-w-7xl px-3 pt-2.5 pb-[max(0.625rem,env(safe-area-inset-bottom))] sm:px-6">
          {open ? (
            <VoteBar
              turn={open}
              vote={(winner) => conversation.vote(open.id, { winner })}
              skip={() => conversation.skip(open.id)}
              stop={() => conversation.stop()}
            />
          ) : (
            <Composer ask={ask} isFollowUp />
          )}
        </div>
      </div>
    </>
  );
}
