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
  if (location.hash.startsWith(INVITE)) {
    const secret = decodeURIComponent(location.hash.slice(INVITE.length));
    history.replaceState(null, "", "#/");
    if (secret !== "") save(localStorage, "key", secret);
    save(localStorage, "invited", secret === "" ? undefined : true);
  }
  if (!isVoter()) return;
  document.documentElement.dataset.voter = "";
  showArena();
  addEventListener("hashchange", showArena);
}

/** Whether the person was invited to vote and sees only the arena. The key limits what the person may do. */
export function isVoter(): boolean {
  return load(localStorage, "invited") === true;
}

/** Leaves every page that is not the arena or a decision in it. */
function showArena(): void {
  if (!/^(#?\/?|#\/decisions\/.*)$/.test(location.hash)) location.replace("#/");
}
