import { useEffect, useRef } from "preact/hooks";

/**
 * A reference for a navigation that scrolls horizontally: the link of the current page is scrolled into view. The
 * position is set directly, because scrollIntoView would also move the place where the Tab key starts.
 */
export function useCurrentInView<E extends HTMLElement>(current: string) {
  const navigation = useRef<E>(null);
  useEffect(() => {
    const box = navigation.current;
    const link = box?.querySelector("[aria-current=page]")?.getBoundingClientRect();
    if (!box || !link) return;
    const { left, right } = box.getBoundingClientRect();
    if (link.right > right) box.scrollLeft += link.right - right;
    else if (link.left < left) box.scrollLeft -= left - link.left;
  }, [current]);
  return navigation;
}
