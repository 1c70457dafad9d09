import { decoded } from "../page/route.ts";
import { load, save } from "../state/storage.ts";
import "./voter.css";

/** Start of a link for voters: `#/invite/KEY`. Browsers do not send the part after # to any server. */
const INVITE = "#/invite/";

export function invitationLink(secret: string): string {
  return `${location.origin}/${INVITE}${encodeURIComponent(secret)}`;
}

/**
 * Takes the key out of the address of a link for voters, so that nobody reads it there, and keeps it for signing in.
 * From then on this browser shows only the arena, until a link without a key is opened.
 */
export function acceptInvitation(): void {
  takeKey();
  // The page starts again if a link for voters is opened in its tab.
  addEventListener("hashchange", () => takeKey() && location.reload());
  if (!isVoter()) return;
  document.documentElement.dataset.voter = "";
  showArena();
  addEventListener("hashchange", showArena);
}

/** Whether the address was a link for voters. */
function takeKey(): boolean {
  if (!location.hash.startsWith(INVITE)) return false;
  const secret = decoded(location.hash.slice(INVITE.length));
  history.replaceState(null, "", "#/");
  if (secret !== "") save(localStorage, "key", secret);
  save(localStorage, "invited", secret === "" ? undefined : true);
  return true;
}

/** Whether the person was invited to vote and sees only the arena. The key limits what the person may do. */
export function isVoter(): boolean {
  return load(localStorage, "invited") === true;
}

/** Leaves every page that is not the arena or a decision in it. */
function showArena(): void {
  if (!/^(#?\/?|#\/decisions\/.*)$/.test(location.hash)) location.replace("#/");
}
