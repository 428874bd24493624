// What changed is asked for every two seconds; what is open stays open, and while
// somebody reads a point nothing moves.
const said = document.getElementById("status"), main = document.querySelector("main");
let tag = "";
const keep = html => {
  const opened = [...main.querySelectorAll("details[open]")].map(d => d.id), at = document.activeElement?.closest?.("details")?.id;
  main.innerHTML = html;
  for (const id of opened) { const d = document.getElementById(id); if (d) d.open = true; }
  if (at) document.getElementById(at)?.querySelector("summary")?.focus({ preventScroll: true });
  bind(main);
};
const ask = async () => {
  try {
    const got = await fetch("live", { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
    if (got.status === 200 && tip.hidden && !getSelection().toString()) { tag = got.headers.get("Etag"); keep(await got.text()); }
    said.textContent = got.ok || got.status === 304 ? "live" : "the proxy answers " + got.status;
    said.className = got.ok || got.status === 304 ? "dim" : "bad";
  } catch { said.textContent = "the proxy does not answer; this is what it said last"; said.className = "bad"; }
  setTimeout(ask, 2000);
};
setTimeout(ask, 2000);
