import { render } from "preact";
import { openPage, PageProvider } from "./page/page.ts";
import { App } from "./shell/app.tsx";
import "./app.css";

render(
  <PageProvider value={openPage()}>
    <App />
  </PageProvider>,
  document.getElementById("app")!,
);
