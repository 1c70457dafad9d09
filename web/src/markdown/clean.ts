import createPurifier from "dompurify";

/** Removes everything dangerous from HTML. The second defence after blocks.ts; the third is the page's Content-Security-Policy. */
export function clean(html: string): DocumentFragment {
  purifier ??= newPurifier();
  return purifier.sanitize(html, {
    RETURN_DOM_FRAGMENT: true, // the checked nodes themselves are shown, so nothing is parsed twice
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ["href", "title", "class", ...PLAIN],
    ALLOWED_URI_REGEXP: /^(https?:|mailto:)/i,
    ADD_URI_SAFE_ATTR: PLAIN, // the values of all other attributes must be URLs of the allowed kind
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
  });
}

const TAGS =
  `a b blockquote br code del em h1 h2 h3 h4 h5 h6 hr i input li ol p pre s span strong sub sup
  table tbody td th thead tr ul`.split(/\s+/);

/** Attributes of tables, lists and check boxes, whose values are not URLs. */
const PLAIN = ["align", "start", "type", "checked", "disabled"];

let purifier: ReturnType<typeof createPurifier> | undefined;

function newPurifier() {
  const own = createPurifier(window);
  own.addHook("afterSanitizeAttributes", (node) => {
    if (node.nodeName === "A") {
      node.setAttribute("target", "_blank");
      node.setAttribute("rel", "noopener noreferrer nofollow");
    }
    // The only inputs are check boxes of task lists.
    if (node.nodeName === "INPUT") {
      if (node.getAttribute("type") !== "checkbox") node.remove();
      else node.setAttribute("disabled", "");
    }
    if (/^H[1-6]$/.test(node.nodeName)) node.setAttribute("class", "answer-heading");
  });
  return own;
}
