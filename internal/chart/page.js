const tip = document.getElementById("tip");
// bind gives life to what stands below a node.
const bind = root => {
  // Tables are sorted by a click on a head; numbers start with the largest.
  for (const t of root.querySelectorAll("table")) t.querySelectorAll("th button").forEach((b, i) => b.addEventListener("click", () => {
    const th = b.parentElement, was = th.getAttribute("aria-sort"), body = t.tBodies[0];
    const v = r => { const c = r.cells[i]; return c.dataset.v === undefined ? c.textContent : +c.dataset.v; };
    const up = was ? was !== "ascending" : typeof v(body.rows[0]) === "string";
    t.querySelectorAll("th").forEach(x => x.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", up ? "ascending" : "descending");
    [...body.rows].sort((a, z) => { const x = v(a), y = v(z); return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1); }).forEach(r => body.append(r));
  }));
  for (const c of root.querySelectorAll("input[data-policy]")) c.addEventListener("change", () => {
    for (const g of c.closest("details").querySelectorAll(".curve")) if (g.dataset.policy === c.dataset.policy) g.style.display = c.checked ? "" : "none";
  });
  // What a point or a mark says is shown at once, for the mouse and the keyboard alike.
  for (const title of root.querySelectorAll("svg title")) {
    const at = title.parentElement, text = title.textContent;
    at.setAttribute("aria-label", text);
    title.remove();
    const show = () => {
      const box = at.getBoundingClientRect();
      tip.textContent = text;
      tip.hidden = false;
      tip.style.left = Math.max(4, Math.min(box.left, innerWidth - tip.offsetWidth - 8)) + "px";
      tip.style.top = (box.top > tip.offsetHeight + 12 ? box.top - tip.offsetHeight - 8 : box.bottom + 8) + "px";
    };
    for (const e of ["mouseenter", "focus"]) at.addEventListener(e, show);
    for (const e of ["mouseleave", "blur"]) at.addEventListener(e, () => { tip.hidden = true; });
  }
};
bind(document);
addEventListener("keydown", e => { if (e.key === "Escape") tip.hidden = true; });
// A mark leads to what the compaction did, which stands in closed boxes.
const open = () => {
  const to = location.hash && document.getElementById(location.hash.slice(1));
  for (let d = to; d; d = d.parentElement) if (d.tagName === "DETAILS") d.open = true;
  if (to) { to.scrollIntoView(); to.querySelector("summary")?.focus({ preventScroll: true }); }
};
addEventListener("hashchange", open);
open();
