(() => {
  const seen = { Width: innerWidth, Overflow: document.documentElement.scrollWidth - innerWidth };
  const visible = e => e.getClientRects().length > 0;
  seen.Pictures = [...document.querySelectorAll("svg.wide, svg.narrow")].filter(visible).map(e => e.getAttribute("class"));
  const first = document.querySelector(".best b"), box = first.getBoundingClientRect();
  seen.First = box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth ? first.textContent : "";
  const rgb = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length > 3 && m[3] === 0 ? null : m.slice(0, 3); };
  const light = c => c.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [.2126, .7152, .0722][i], 0);
  const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c) return c; } return [255, 255, 255]; };
  const step = document.getElementById("step-2");
  seen.Went = step.querySelector("summary").textContent;
  seen.Contrast = 99;
  const closed = [...document.querySelectorAll("details")].filter(d => !d.open);
  for (const d of closed) d.open = true;
  for (const e of document.querySelectorAll("p, td, th, li, b, i, pre, summary, code, span, h1, h2, svg text")) {
    if (!visible(e)) continue;
    const style = getComputedStyle(e), a = light(rgb(e.ownerSVGElement ? style.fill : style.color)), b = light(ground(e));
    seen.Contrast = Math.min(seen.Contrast, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
  }
  seen.Overflow = Math.max(seen.Overflow, document.documentElement.scrollWidth - innerWidth);
  seen.Dark = light(ground(document.body)) < .1;
  seen.Back = [...document.querySelectorAll("td code")].filter(e => /^[0-9a-f]{12}$/.test(e.textContent)).length;
  for (const d of document.querySelectorAll("details")) d.open = false;
  location.hash = "#step-2";
  addEventListener("hashchange", () => {
    seen.Opened = step.open;
    seen.Parts = [...step.querySelectorAll("details > summary")].filter(visible).slice(1).map(e => e.textContent);
    const out = document.createElement("pre");
    out.id = "seen";
    out.textContent = JSON.stringify(seen);
    document.body.append(out);
  });
})();
