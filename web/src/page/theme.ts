import { Observable } from "../state/observable.ts";
import { load, save } from "../state/storage.ts";

export type Theme = "system" | "light" | "dark";

/** The theme that the person chose, loaded from and saved to the browser's storage. */
export function watchTheme(): Observable<Theme> {
  const saved = load(localStorage, "theme");
  const theme = new Observable<Theme>(saved === "light" || saved === "dark" ? saved : "system");
  const apply = (value: Theme) => {
    if (value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = value;
  };
  apply(theme.value);
  theme.watch((value) => {
    save(localStorage, "theme", value === "system" ? undefined : value);
    apply(value);
  });
  return theme;
}
