import { useState } from "preact/hooks";
import { isAdmin, joust, session } from "../api/client.ts";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { NumberField, TextField } from "../parts/field.tsx";
import { Form, useAction, useFields } from "../parts/form.tsx";
import { Cross, Plus } from "../parts/icons.tsx";
import { Problem } from "../parts/problem.tsx";
import { useValue } from "../state/observable.ts";
import { invitationLink, isVoter } from "./voter.ts";

/** Opens a dialog that creates a link with which people can only ask and vote. Creating one needs the scope admin. */
export function InviteButton() {
  const [state, setState] = useState<"closed" | "open" | "keyless">("closed");
  const mayInvite = isAdmin(useValue(session));
  if (isVoter() || !mayInvite) return null;
  const open = async () => setState((await isKeyless()) ? "keyless" : "open");
  const close = () => setState("closed");
  return (
    <>
      <Button variant="quiet" class="self-center" aria-haspopup="dialog" onClick={open}>
        <Plus /> Invite people to vote
      </Button>
      <Dialog
        label="Invite people to vote"
        isOpen={state !== "closed"}
        onClose={close}
        class="w-[min(34rem,calc(100vw-2rem))] p-4 sm:p-5"
      >
        <div class="flex flex-col gap-4">
          <div class="flex items-center justify-between gap-2">
            <h2 class="font-semibold">Invite people to vote</h2>
            <Button variant="quiet" class="px-2!" onClick={close}>
              <Cross />
              <span class="sr-only">Close</span>
            </Button>
          </div>
          {state === "keyless" ? <KeyNeeded /> : <InviteForm />}
        </div>
      </Dialog>
    </>
  );
}

/** Whether the gateway has no keys: then it answers a request without credentials. */
async function isKeyless(): Promise<boolean> {
  const response = await fetch("/v1/models", { credentials: "omit" }).catch(() => undefined);
  return response?.ok === true;
}

/** The first key locks everybody else out, so it must be a key of an administrator. */
function KeyNeeded() {
  return (
    <p class="text-sm">
      This gateway has no keys, so it serves only its own machine, and nobody else can be invited.
      Create a key for yourself first: <code>joust keys add NAME --scopes admin,route,vote</code>
    </p>
  );
}

function InviteForm() {
  const { fields, bind } = useFields({ name: "voters", budget: "" });
  const { name } = fields;
  const { run, result: link, problem, isBusy } = useAction<string>();
  const create = async () => {
    const budget = Number(fields.budget);
    const { secret } = await joust.addKey({
      name,
      scopes: ["route", "vote"],
      ...(budget > 0 && { budget }),
    });
    return invitationLink(secret);
  };
  if (link !== undefined) {
    return (
      <div class="flex flex-col gap-3 text-sm">
        <p>Send this link. It is shown only now:</p>
        <p class="flex flex-wrap items-center gap-2">
          <code class="break-all">{link}</code>
          <CopyButton text={link} what="the link" />
        </p>
        <p class="text-muted">
          Whoever opens it sees only the arena, and can ask questions and vote. To end the
          invitation, revoke the key: <code>joust keys revoke {name}</code>
        </p>
      </div>
    );
  }
  return (
    <Form class="flex flex-col gap-3 text-sm" onSubmit={() => !isBusy && run(create)}>
      <TextField label="Name of the key" {...bind("name")} required pattern="[\w.:/@\-]{1,100}" />
      <NumberField label="Budget in US dollars per month, optional" {...bind("budget")} />
      <Problem text={problem} />
      <Button variant="primary" type="submit" class="self-start">
        Create the link
      </Button>
    </Form>
  );
}
