/** Points in three dimensions that the reader can rotate. */

import { type PointsPicture, VIEW } from "./points.ts";
import { htmlText } from "./table.ts";

/** A canvas per panel. Without scripts, and on paper, the picture is shown instead. */
export function turningPicture(id: string, { panels, colors, categories }: PointsPicture): string {
  const rounded = panels.map(({ title, points, category }) => ({
    title,
    category,
    points: points.map((point) => point.map((value) => Number(value.toFixed(2)))),
  }));
  const data = JSON.stringify({ panels: rounded, colors, categories, view: VIEW });
  const canvases = panels.map(
    ({ title }) =>
      `<div><canvas width="760" height="760" tabindex="0" aria-label="${htmlText(title)}"></canvas></div>`,
  );
  return `<div class="canvases" data-points="${id}">${canvases.join("")}</div><script type="application/json" id="${id}-points">${data.replaceAll("<", "\\u003c")}</script>`;
}

export const TURNING_CSS = `
.canvases { display: none; flex-wrap: wrap; gap: 0.5rem; }
.canvases div { flex: 1 1 20rem; max-width: 30rem; }
.canvases canvas { width: 100%; height: auto; background: #fff; border: 1px solid var(--rule); border-radius: 6px; cursor: grab; touch-action: none; }
@media screen { .scripted .canvases { display: flex; } .scripted .turning figure svg { display: none; } }
`;

/** Draws the points and rotates them with the pointer or the arrow keys. */
export const TURNING_SCRIPT = `
document.documentElement.classList.add("scripted");
for (const box of document.querySelectorAll("[data-points]")) {
  const { panels, colors, categories, view } = JSON.parse(document.getElementById(box.dataset.points + "-points").textContent);
  const state = { ...view };
  const canvases = [...box.querySelectorAll("canvas")];
  const draw = () => canvases.forEach((canvas, i) => {
    const { title, points, category } = panels[i];
    const c = canvas.getContext("2d"), size = canvas.width, half = size / 2;
    const reach = 1.02 * Math.max(...points.map((p) => Math.hypot(...p)));
    const [ct, st, cl, sl] = [Math.cos(state.turn), Math.sin(state.turn), Math.cos(state.tilt), Math.sin(state.tilt)];
    const dots = points.map(([x, y, z], n) => {
      const across = x * ct + z * st, away = z * ct - x * st;
      return { x: half + (across / reach) * half, y: half - ((y * cl - away * sl) / reach) * half, near: 0.5 + (away * cl + y * sl) / (2 * reach), m: category[n] };
    }).sort((a, b) => a.near - b.near);
    c.fillStyle = "#fff"; c.fillRect(0, 0, size, size);
    for (const { x, y, near, m } of dots) {
      c.globalAlpha = 0.35 + 0.6 * Math.min(1, Math.max(0, near));
      c.fillStyle = colors[m]; c.beginPath(); c.arc(x, y, 3 + 4 * near, 0, 7); c.fill();
    }
    c.globalAlpha = 1; c.font = "600 22px system-ui, sans-serif"; c.fillStyle = "#222"; c.fillText(title, 16, 30);
    c.font = "18px system-ui, sans-serif";
    categories.forEach((name, m) => { const y = size - 16 - 24 * (categories.length - 1 - m); c.fillStyle = colors[m]; c.fillRect(16, y - 12, 12, 12); c.fillStyle = "#222"; c.fillText(name, 36, y); });
  });
  for (const canvas of canvases) {
    canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
    canvas.addEventListener("pointermove", (event) => {
      if (!event.buttons) return;
      state.turn += event.movementX / 150; state.tilt = Math.min(1.5, Math.max(-1.5, state.tilt + event.movementY / 150)); draw();
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
      if (!step) return;
      event.preventDefault(); state.turn += step[0]; state.tilt = Math.min(1.5, Math.max(-1.5, state.tilt + step[1])); draw();
    });
  }
  draw();
}
`;
