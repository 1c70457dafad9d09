import { useEffect, useRef } from "preact/hooks";

/** A reference for a navigation that scrolls horizontally: the link of the current page is scrolled into view. */
export function useCurrentInView<E extends HTMLElement>(current: string) {
  const navigation = useRef<E>(null);
  useEffect(() => {
    const link = navigation.current?.querySelector("[aria-current=page]");
    link?.scrollIntoView({ inline: "nearest", block: "nearest" });
  }, [current]);
  return navigation;
}
