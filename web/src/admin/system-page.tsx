import { joust } from "../api/client.ts";
import { useRead } from "../page/use-read.ts";
import { Button } from "../parts/button.tsx";
import { DataTable } from "../parts/data-table.tsx";
import { useAction } from "../parts/form.tsx";
import { Panel } from "../parts/panel.tsx";
import { Problem } from "../parts/problem.tsx";
import { ago, count, plural } from "../text/format.ts";

/** Nodes, leases, the store, backups and the version. */
export function SystemPage() {
  const { data, problem } = useRead(() => joust.system(), [], 5000);
  const now = Date.now();
  return (
    <>
      <Problem text={problem} />
      {data && (
        <>
          <Panel
            title={`Joust ${data.version}`}
            about={`This node serves revision ${data.revision} of the configuration.`}
          >
            <DataTable label="Nodes" columns={NODES}>
              {data.nodes.map((node) => (
                <tr key={node.id} class="border-t border-line">
                  <th scope="row" class="py-2 pr-3 text-left font-normal">
                    {node.id}
                    {node.id === data.node && " (this one)"}
                  </th>
                  <td class="pr-3 break-all text-muted">{node.url}</td>
                  <td class="text-muted">{node.version}</td>
                  <td class="text-right tabular-nums">{node.revision}</td>
                  <td class="pl-3 text-right whitespace-nowrap">
                    {ago(Date.parse(node.started_at), now)}
                  </td>
                  <td class={`pl-3 text-right ${node.is_alive ? "text-good" : "text-bad"}`}>
                    {node.is_alive ? "alive" : `last seen ${ago(Date.parse(node.seen_at), now)}`}
                  </td>
                </tr>
              ))}
            </DataTable>
          </Panel>
          <Panel
            title="Leases"
            about="The node that learns for each router. Another one takes over when a lease ends."
          >
            <DataTable label="Leases" columns={LEASES} isSmall>
              {data.leases.map(({ router, holder, is_valid: isValid }) => (
                <tr key={router} class="border-t border-line">
                  <th scope="row" class="py-2 pr-3 text-left font-normal">
                    {router}
                  </th>
                  <td class="text-muted">{holder}</td>
                  <td class={`text-right ${isValid ? "text-good" : "text-warn"}`}>
                    {isValid ? "valid" : "ended"}
                  </td>
                </tr>
              ))}
            </DataTable>
          </Panel>
          <StorePanel store={data.store} />
        </>
      )}
    </>
  );
}

const NODES = [
  { name: "Node" },
  { name: "Address" },
  { name: "Version" },
  { name: "Revision", isNumber: true },
  { name: "Started", isNumber: true },
  { name: "State", isNumber: true },
];
const LEASES = [{ name: "Router" }, { name: "Node" }, { name: "Lease", isNumber: true }];

type Store = Awaited<ReturnType<typeof joust.system>>["store"];

function StorePanel({ store }: { store: Store }) {
  const { isBusy: isRunning, result, problem, run } = useAction<string>();
  const backUp = async () => {
    const { folder, files } = await joust.backup();
    return `${plural(files, "file")} in ${folder}`;
  };
  const lost = store.dropped > 0 ? `, ${count(store.dropped)} lost since the start` : "";
  return (
    <Panel
      title={store.kind === "sqlite" ? "Store: SQLite" : "Store: PostgreSQL"}
      about={
        store.is_up
          ? `It accepts writes; ${plural(store.waiting, "entry", "entries")} ${store.waiting === 1 ? "waits" : "wait"}${lost}.`
          : `It does not accept writes. Requests are answered, votes are refused; ${plural(store.waiting, "entry", "entries")} ${store.waiting === 1 ? "waits" : "wait"}${lost}.`
      }
      actions={
        <Button disabled={isRunning} onClick={() => run(backUp)}>
          {isRunning ? "Copying\u2026" : "Back up now"}
        </Button>
      }
    >
      {store.file && <p class="text-sm break-all text-muted">{store.file}</p>}
      <p role="status" class="text-sm break-all text-good empty:hidden">
        {result}
      </p>
      <Problem text={problem} />
      <p class="text-sm text-muted">
        A backup does not contain the key that decrypts provider keys: keep{" "}
        <code>JOUST_STORE_KEY</code>, or the file <code>secrets.key</code> of the data folder, in
        another place. <code>joust restore FOLDER</code> reads a backup.
      </p>
    </Panel>
  );
}
