export function DecisionPage({ id }: { id: string }) {
  return <p>{id}</p>;
}
