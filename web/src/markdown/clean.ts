import createPurifier from "dompurify";

/** The second wall behind blocks.ts; the page's Content-Security-Policy is the third. */
export function clean(html: string): DocumentFragment {
  purifier ??= newPurifier();
  return purifier.sanitize(html, {
    RETURN_DOM_FRAGMENT: true, // what was looked at is what is shown: nothing is parsed again
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "title", "class", ...PLAIN],
    ALLOWED_URI_REGEXP: /^(https?:|mailto:)/i,
    ADD_URI_SAFE_ATTR: PLAIN, // all others must be addresses like those
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

const TAGS =
  `a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i input li ol p pre s span strong sub sup
  table tbody td th thead tr ul`.split(/\s+/);

/** Attributes of tables, lists and check boxes. */
const PLAIN = ["align", "start", "type", "checked", "disabled"];

let purifier: ReturnType<typeof createPurifier> | undefined;

function newPurifier() {
  const own = createPurifier(window);
  own.addHook("afterSanitizeAttributes", (node) => {
    if (node.nodeName === "A") {
      node.setAttribute("target", "_blank");
      node.setAttribute("rel", "noopener noreferrer nofollow");
    }
    // A check box of a list of tasks is the only input there is.
    if (node.nodeName === "INPUT") {
      if (node.getAttribute("type") !== "checkbox") node.remove();
      else node.setAttribute("disabled", "");
    }
    if (/^H[1-6]$/.test(node.nodeName)) node.setAttribute("class", "answer-heading");
  });
  return own;
}
