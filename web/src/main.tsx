import { render } from "preact";
import { App } from "./shell/app.tsx";
import { openPage, PageProvider } from "./shell/page.ts";
import "./app.css";

render(
  <PageProvider value={openPage()}>
    <App />
  </PageProvider>,
  document.getElementById("app")!,
);
