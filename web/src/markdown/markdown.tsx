import { Component } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { CopyButton } from "../parts/copy-button.tsx";
import { type Block, blocksOf } from "./blocks.ts";
import { clean } from "./clean.ts";
import "./markdown.css";

/** A model's answer rendered as safe markdown. Only blocks that changed are rendered again. */
export function Markdown({ text }: { text: string }) {
  const cost = useRef(0);
  const shown = usePaced(text, () => 8 * cost.current);
  const before = useRef<readonly Block[]>([]);
  const blocks = useMemo(() => {
    const startedAt = performance.now();
    before.current = blocksOf(shown, before.current);
    cost.current = performance.now() - startedAt;
    return before.current;
  }, [shown]);
  const isLong = blocks.length > 1 && blocks.every(({ kind }) => kind === "plain");
  return (
    <div class="answer">
      {isLong && (
        <p class="text-sm text-muted">This answer is very long, so it is shown as plain text.</p>
      )}
      {blocks.map((block, i) => (
        <BlockView key={String(i)} block={block} />
      ))}
    </div>
  );
}

/** The newest text, updated only as often as its rendering time allows. */
function usePaced(text: string, pause: () => number): string {
  const [shown, setShown] = useState(text);
  const newest = useRef(text);
  const timer = useRef<number | undefined>(undefined);
  newest.current = text;
  useEffect(() => {
    timer.current ??= window.setTimeout(
      () => {
        timer.current = undefined;
        setShown(newest.current);
      },
      Math.min(2000, pause()),
    );
  }, [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return shown;
}

/** Renders a block once: an unchanged block is the same object. */
class BlockView extends Component<{ block: Block }> {
  override shouldComponentUpdate({ block }: { block: Block }): boolean {
    return block !== this.props.block;
  }

  override render({ block }: { block: Block }) {
    switch (block.kind) {
      case "plain":
        return <pre class="answer-plain">{block.raw}</pre>;
      case "code":
        return <Code code={block.code} lang={block.lang} />;
      case "html":
        return <Html html={block.html} />;
    }
  }
}

function Html({ html }: { html: string }) {
  const safe = useMemo(() => clean(html), [html]);
  const content = useContent<HTMLDivElement & HTMLElement>(safe);
  useEffect(() => {
    if (!html.includes('class="math-')) return;
    import("./math.ts").then(
      ({ renderMath }) => content.current && renderMath(content.current),
      () => {}, // the source of the formula is shown
    );
  }, [html]);
  // A wide table scrolls on its own and can be focused, so that it scrolls by keyboard too.
  if (html.startsWith("<table")) {
    return <section class="answer-table" aria-label="Table" tabIndex={0} ref={content} />;
  }
  return <div ref={content} />;
}

/** A reference for an element whose content is replaced by these nodes; undefined leaves it as it is. */
function useContent<E extends Element>(content: DocumentFragment | undefined) {
  const element = useRef<E>(null);
  useLayoutEffect(() => {
    if (content) element.current?.replaceChildren(content);
  }, [content]);
  return element;
}

export function Code({ code, lang }: { code: string; lang: string }) {
  const coloured = useHighlighted(code, lang);
  const content = useContent<HTMLElement>(coloured);
  return (
    <figure class="answer-code">
      <figcaption>
        <span>{lang || "text"}</span>
        <CopyButton text={code} what="code" />
      </figcaption>
      <pre tabIndex={0}>
        {coloured ? <code key="coloured" ref={content} /> : <code key="plain">{code}</code>}
      </pre>
    </figure>
  );
}

/** The code with syntax colours; undefined until the highlighter is loaded. */
function useHighlighted(code: string, lang: string): DocumentFragment | undefined {
  const [highlight, setHighlight] = useState<typeof import("./highlight.ts").highlight>();
  const isWanted = lang !== "" && code.length < 20_000;
  useEffect(() => {
    if (!isWanted) return;
    let isUnmounted = false;
    import("./highlight.ts").then(
      (module) => !isUnmounted && setHighlight(() => module.highlight),
      () => {}, // the code is shown without colours
    );
    return () => {
      isUnmounted = true;
    };
  }, [isWanted]);
  return useMemo(() => {
    const html = isWanted ? highlight?.(code, lang) : undefined;
    return html === undefined ? undefined : clean(html);
  }, [code, lang, highlight, isWanted]);
}
