"use strict";
for (const view of document.querySelectorAll("[data-view]")) {
  const points = JSON.parse(view.querySelector(".data").textContent);
  const panels = [...view.querySelectorAll(".panel")];
  const plots = [...view.querySelectorAll(".plot")];
  const buttons = [...view.querySelectorAll(".legend button")];
  const switches = [...view.querySelectorAll(".choose button")];
  const told = document.createElement("div");
  told.className = "told";
  told.setAttribute("role", "status");
  told.hidden = true;
  document.body.append(told);
  const order = points.x.map((_, i) => i).sort((a, b) => points.x[a] - points.x[b] || points.y[a] - points.y[b]);
  let chosen = null; // {which, code}: the cluster whose rows stand out
  let current = null; // the row that is told

  const visible = (i) => !chosen || points.codes[chosen.which][i] === chosen.code;

  function choose(which, code) {
    const again = chosen && chosen.which === which && chosen.code === code;
    chosen = again ? null : { which, code };
    for (const button of buttons) {
      const pressed = chosen && +button.dataset.which === chosen.which && +button.dataset.code === chosen.code;
      button.setAttribute("aria-pressed", String(Boolean(pressed)));
    }
    for (const path of view.querySelectorAll(".points path")) {
      path.classList.toggle("dim", Boolean(chosen) && +path.dataset.cell.split(" ")[chosen.which] !== chosen.code);
    }
  }

  function hide() {
    current = null;
    told.hidden = true;
    for (const ring of view.querySelectorAll(".ring")) ring.setAttribute("visibility", "hidden");
  }

  function add(list, term, description) {
    list.append(Object.assign(document.createElement("dt"), { textContent: term }));
    list.append(Object.assign(document.createElement("dd"), { textContent: description }));
  }

  function tell(i, plot) {
    if (i === current && !told.hidden) return;
    current = i;
    const list = document.createElement("dl");
    points.names.forEach((name, k) => add(list, name, points.levels[k][points.codes[k][i]]));
    points.columns.forEach((name, j) => add(list, name, points.values[j][i]));
    told.replaceChildren(Object.assign(document.createElement("p"), { textContent: points.ids[i] }), list);
    told.hidden = false;
    for (const ring of view.querySelectorAll(".ring")) {
      ring.setAttribute("cx", points.x[i]);
      ring.setAttribute("cy", points.y[i]);
      ring.setAttribute("visibility", "visible");
    }
    const { box, scale } = frame(plot);
    const left = box.left + points.x[i] * scale, top = box.top + points.y[i] * scale;
    const room = document.documentElement.clientWidth - told.offsetWidth - 8;
    const above = top - told.offsetHeight - 14;
    told.style.left = `${window.scrollX + Math.max(8, Math.min(left + 14, room))}px`;
    told.style.top = `${window.scrollY + (above > 0 ? above : top + 14)}px`;
  }

  function frame(plot) {
    const svg = plot.querySelector("svg");
    const box = svg.getBoundingClientRect();
    return { box, scale: box.width / svg.viewBox.baseVal.width };
  }

  function nearest(plot, event) {
    const { box, scale } = frame(plot);
    const x = (event.clientX - box.left) / scale, y = (event.clientY - box.top) / scale;
    let best = null, least = (24 / scale) ** 2; // a finger's width
    for (let i = 0; i < points.x.length; i++) {
      const distance = (points.x[i] - x) ** 2 + (points.y[i] - y) ** 2;
      if (distance < least && visible(i)) [best, least] = [i, distance];
    }
    return best;
  }

  function step(by) {
    const shown = order.filter(visible);
    const at = shown.indexOf(current);
    return at < 0 ? shown[0] : shown[(at + by + shown.length) % shown.length];
  }

  for (const plot of plots) {
    const point = (event) => {
      const i = nearest(plot, event);
      if (i === null) hide();
      else tell(i, plot);
    };
    plot.addEventListener("pointermove", point);
    plot.addEventListener("pointerdown", point);
    plot.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && hide());
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") hide();
      if (!by) return;
      event.preventDefault();
      const i = step(by);
      if (i !== undefined) tell(i, plot);
    });
  }
  for (const button of buttons) {
    button.addEventListener("click", () => choose(+button.dataset.which, +button.dataset.code));
  }

  function show(which) {
    for (const panel of panels) panel.hidden = +panel.dataset.panel !== 0 && panel.dataset.panel !== which;
    for (const button of switches) button.setAttribute("aria-pressed", String(button.dataset.show === which));
    hide();
  }
  for (const button of switches) button.addEventListener("click", () => show(button.dataset.show));
  if (switches.length) show(switches[0].dataset.show);
}
