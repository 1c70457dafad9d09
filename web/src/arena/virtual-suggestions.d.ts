/** The project's questions, added to the build by vite.config.ts. */
declare module "virtual:suggestions" {
  const questions: readonly { readonly category: string; readonly query: string }[];
  export default questions;
}
