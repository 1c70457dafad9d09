declare module "virtual:suggestions" {
  const questions: readonly { readonly category: string; readonly query: string }[];
  export default questions;
}
