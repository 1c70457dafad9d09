import { useState } from "preact/hooks";
import type { Question } from "../conversation/conversation.ts";
import { type Exchange, isStreaming } from "../conversation/exchange.ts";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { Form } from "../parts/form.tsx";
import { FormBox } from "../parts/form-box.tsx";
import { Pencil } from "../parts/icons.tsx";

/** The question of an exchange, which can be copied, or edited and sent again. */
export function QuestionView({
  exchange,
  askFrom,
}: {
  exchange: Exchange;
  askFrom: (question: Question) => void;
}) {
  const { prompt, images = [] } = exchange;
  const [isEdited, setIsEdited] = useState(false);
  const cancel = () => setIsEdited(false);
  if (isEdited) {
    return (
      <FormBox opener={`edit-${exchange.id}`} onClose={cancel}>
        <Editor
          prompt={prompt}
          cancel={cancel}
          send={(text) => {
            cancel();
            askFrom({ prompt: text, images });
          }}
        />
      </FormBox>
    );
  }
  return (
    <div class="flex flex-col items-end gap-1">
      {images.length > 0 && (
        <div class="flex flex-wrap justify-end gap-2">
          {images.map((url, i) => (
            <img
              key={url}
              src={url}
              alt={`Attachment ${i + 1} of your question`}
              class="max-h-56 max-w-full rounded-xl border border-line"
            />
          ))}
        </div>
      )}
      <p
        // A text that scrolls must be reachable by keyboard.
        {...(isLong(prompt) && { tabIndex: 0 })}
        class="max-h-72 max-w-[min(46rem,100%)] overflow-auto rounded-2xl rounded-br-md bg-sunken px-4 py-2.5 whitespace-pre-wrap"
      >
        <span class="sr-only">You asked: </span>
        {prompt}
      </p>
      <div class="flex items-center">
        <CopyButton text={prompt} what="question" />
        {!isStreaming(exchange) && (
          <button
            type="button"
            id={`edit-${exchange.id}`}
            onClick={() => setIsEdited(true)}
            class="flex min-h-8 items-center gap-1 rounded px-2 text-sm text-muted hover:bg-sunken hover:text-ink"
          >
            <Pencil /> Edit <span class="sr-only">and send again</span>
          </button>
        )}
      </div>
    </div>
  );
}

function Editor({
  prompt,
  send,
  cancel,
}: {
  prompt: string;
  send: (text: string) => void;
  cancel: () => void;
}) {
  const [text, setText] = useState(prompt);
  const submit = () => {
    if (text.trim() !== "") send(text.trim());
  };
  return (
    <Form class="flex w-full max-w-[46rem] flex-col gap-2 self-end" onSubmit={submit}>
      <textarea
        aria-label="Edit the question"
        rows={Math.min(10, text.split("\n").length + 1)}
        value={text}
        class="scroll-mt-20 rounded-2xl border border-strong bg-surface px-4 py-2.5"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          submit();
        }}
      />
      <div class="flex justify-end gap-2">
        <Button variant="quiet" onClick={cancel}>
          Cancel
        </Button>
        <Button variant="primary" type="submit" disabled={text.trim() === ""}>
          Send again
        </Button>
      </div>
      <p class="text-right text-xs text-muted">
        This question and everything after it are replaced. Votes that were sent stay.
      </p>
    </Form>
  );
}

function isLong(text: string): boolean {
  return text.length > 300 || text.split("\n").length > 9;
}
