(() => {
  const seen = { Width: innerWidth, Overflow: document.documentElement.scrollWidth - innerWidth, Covered: [] };
  const visible = e => e.getClientRects().length > 0;
  seen.Pictures = [...new Set([...document.querySelectorAll("svg.wide, svg.narrow")].filter(visible).map(e => e.getAttribute("class")))];
  const svg = [...document.querySelectorAll("svg.wide, svg.narrow")].find(visible), frame = svg.getBoundingClientRect();
  const names = [...svg.querySelectorAll(".label")].map(e => [e.textContent, e.getBoundingClientRect()]);
  names.forEach(([name, a], i) => {
    if (a.left < frame.left || a.right > frame.right + 1) seen.Covered.push(name + " is cut off");
    for (const [other, b] of names.slice(0, i))
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4) seen.Covered.push(name + " and " + other);
  });
  const first = document.querySelector(".best b"), shown = e => { const b = e.getBoundingClientRect(); return b.top >= 0 && b.left >= 0 && b.bottom <= innerHeight && b.right <= innerWidth; };
  seen.First = first && shown(first) ? first.textContent : "";
  const wide = document.querySelector("tbody tr").cells;
  seen.Judged = [...wide].filter(c => c.getBoundingClientRect().right <= innerWidth).map(c => document.querySelector("thead tr").cells[c.cellIndex].textContent);
  const table = document.querySelector("table"), cost = [...table.querySelectorAll("th button")].find(b => b.textContent.includes("cost"));
  seen.Sorted = [0, 1].map(() => { cost.click(); return table.tBodies[0].rows[0].cells[0].textContent; });
  const tip = document.getElementById("tip");
  const point = svg.querySelector(".point");
  point.focus();
  // A window that does not have the keyboard yet, on a busy machine, gets no event.
  if (document.activeElement === point && !document.hasFocus()) point.dispatchEvent(new FocusEvent("focus"));
  seen.Tip = tip.hidden ? "" : tip.textContent;
  dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  seen.TipHidden = tip.hidden;
  const box = document.querySelector("input[data-policy]");
  const curve = [...box.closest("details").querySelectorAll(".curve")].find(g => g.dataset.policy === box.dataset.policy && visible(g));
  box.click();
  seen.Hidden = !visible(curve);
  box.click();
  const rgb = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length > 3 && m[3] === 0 ? null : m.slice(0, 3); };
  const light = c => c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c) return c; } return [255, 255, 255]; };
  seen.Contrast = 99;
  for (const d of document.querySelectorAll("details")) d.open = true;
  for (const e of document.querySelectorAll("p, td, th, dt, dd, summary, label, code, span, h1, h2, h3, svg text")) {
    if (!visible(e)) continue;
    const style = getComputedStyle(e), a = light(rgb(e.ownerSVGElement ? style.fill : style.color)), b = light(ground(e));
    seen.Contrast = Math.min(seen.Contrast, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
  }
  seen.Dark = light(ground(document.body)) < .1;
  seen.Focus = [...document.querySelectorAll("[tabindex], a, button, summary, input")].filter(visible).length;
  for (const d of document.querySelectorAll("details")) d.open = false;
  const mark = document.querySelector("a.mark"), to = document.getElementById(mark.getAttribute("href").slice(1));
  location.hash = mark.getAttribute("href");
  addEventListener("hashchange", () => {
    seen.Opened = to.open && to.parentElement.open;
    const out = document.createElement("pre");
    out.id = "seen";
    out.textContent = JSON.stringify(seen);
    document.body.append(out);
  });
})();
