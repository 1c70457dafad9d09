import { useEffect } from "preact/hooks";
import type { RouterPreview } from "../../../src/client.ts";
import { joust } from "../api/client.ts";
import { usePage } from "../page/page.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { CheckField, NamesField, NumberField, SelectField } from "../parts/field.tsx";
import { Form, useAction, useFields } from "../parts/form.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { useValue } from "../state/observable.ts";
import { useManaged } from "./managed.ts";
import { PreviewView } from "./preview-view.tsx";
import { entryOf, fieldsOf, type RouterFields, type RouterSettings } from "./router-settings.ts";

/** Settings of one router. A change is shown on last week's requests before it can be applied. */
export function RouterForm({ name, onClose }: { name: string; onClose: () => void }) {
  const { configuration, isEditable, change, isBusy } = useManaged();
  const served = useValue(usePage().serving);
  const names = served?.models.map(({ id }) => id) ?? [];
  const settings = configuration.effective.routers[name] as unknown as RouterSettings | undefined;
  const review = useAction<readonly RouterPreview[]>();
  const { result: preview, isBusy: isChecking, problem } = review;
  const { fields, bind } = useFields<RouterFields>(() => fieldsOf(settings, names), review.forget);
  // A preview is about the revision that it was made with.
  useEffect(review.forget, [configuration.revision]);
  const value = entryOf(fields, configuration.document.routers[name]);
  const changes = [{ section: "routers" as const, name, value }];
  const apply = async () => {
    if (await change(changes)) onClose();
  };
  const remove = async () => {
    if (await change([{ section: "routers", name, value: null }])) onClose();
  };
  const options = [{ value: "", text: "none" }, ...names.map((one) => ({ value: one, text: one }))];
  return (
    <Panel title={name} about={settings ? undefined : "This router does not exist yet."}>
      <Form
        class="flex flex-col gap-4"
        onSubmit={() => {
          if (!isChecking)
            review.run(async () => (await joust.previewConfiguration({ changes })).routers);
        }}
      >
        <fieldset disabled={!isEditable} class="contents">
          <CheckField label="Choose among all models" {...bind("isWholePool")} />
          {!fields.isWholePool && <NamesField label="Pool" names={names} {...bind("pool")} />}
          <div class="grid gap-4 sm:grid-cols-2">
            <SelectField
              label="Mode"
              {...bind("mode")}
              options={[
                { value: "apply", text: "apply: answer with the chosen model" },
                { value: "observe", text: "observe: log the choice, answer with the fallback" },
                { value: "bypass", text: "bypass: only answer with the fallback" },
              ]}
            />
            <SelectField
              label="Fallback"
              {...bind("fallback")}
              options={options}
              about="Answers in the modes observe and bypass."
            />
            <NumberField
              label="Trade-off"
              max={10}
              {...bind("tradeoff")}
              about="0 for quality alone, 10 for the cheapest model."
            />
            <NumberField
              label="Budget in US dollars per request"
              {...bind("budget")}
              placeholder="no budget"
              about="Limit of the mean cost. While it is exceeded, prices count more."
            />
            <SelectField
              label="Duels that the client did not request"
              {...bind("duels")}
              options={[
                { value: "off", text: "none" },
                { value: "auto", text: "when the policy wants to learn" },
                { value: "on", text: "whenever possible" },
              ]}
            />
            <NumberField
              label="Largest share of requests with such a duel, in percent"
              max={100}
              {...bind("share")}
            />
            <NumberField
              label="Largest share of the cost for such duels, in percent"
              max={100}
              {...bind("spend")}
            />
            <SelectField
              label="Judge"
              {...bind("judge")}
              options={options}
              about="A model that votes on a share of the answers."
            />
            {fields.judge !== "" && (
              <>
                <NumberField label="Judged answers, in percent" max={100} {...bind("judgeShare")} />
                <NumberField label="Weight of the judge's votes" max={1} {...bind("judgeWeight")} />
              </>
            )}
          </div>
          <CheckField
            label="Guard"
            {...bind("guard")}
            about="Serves the best single model while votes show that routing does worse."
          />
        </fieldset>
        <Problem text={problem} />
        {preview && <PreviewView routers={preview} />}
        <div class="flex flex-wrap gap-2">
          {isEditable && !preview && (
            <Button variant="primary" type="submit" disabled={isChecking}>
              {isChecking ? "Evaluating last week's requests\u2026" : "Review the change"}
            </Button>
          )}
          {preview && (
            <Button variant="primary" disabled={isBusy} onClick={apply}>
              Apply the change
            </Button>
          )}
          {isEditable && settings && (
            <ConfirmButton
              variant="plain"
              text="Remove"
              target={`the router ${name}`}
              isBusy={isBusy}
              onConfirm={remove}
            />
          )}
          <Button variant="quiet" onClick={onClose}>
            Close
          </Button>
        </div>
      </Form>
    </Panel>
  );
}
