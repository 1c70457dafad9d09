import { render } from "preact";
import { acceptInvitation } from "./arena/voter.ts";
import { openPage, PageProvider } from "./page/page.ts";
import { App } from "./shell/app.tsx";
import "./app.css";

acceptInvitation();
render(
  <PageProvider value={openPage()}>
    <App />
  </PageProvider>,
  document.getElementById("app")!,
);
