// Countersign: keys, arrow picking, print, focus after a swap, and a word when an answer is lost. Every page works
// without this file; nothing is kept in the browser.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const typing = (el) => el.closest("input:not([type=checkbox],[type=radio]),select,textarea,[contenteditable]");
  const shown = (el) => el.offsetParent !== null;
  const keysOn = document.body.dataset.keys !== "off"; // kept for the account, on the server

  function start() {
    for (const b of document.querySelectorAll("[data-print]")) b.hidden = false;
  }

  // step moves the focus among the rows of the list that has it, or into the first list.
  function step(from, by) {
    const list = from.closest("[data-rows]") || document.querySelector(".desk [data-rows], [data-rows]");
    if (!list) return false;
    const rows = [...list.querySelectorAll("[data-row]")];
    const at = rows.indexOf(from.closest("[data-row]") || from.closest("tr")?.querySelector("[data-row]"));
    const to = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by];
    if (to) to.focus();
    return true;
  }

  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
    const el = e.target;
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      const box = el.closest("[role=search]");
      if (box && el.matches("input[type=search], [data-row]")) {
        const rows = [...box.querySelectorAll("[data-row]")];
        const to = rows[rows.indexOf(el) + (e.key === "ArrowDown" ? 1 : -1)];
        if (to) { to.focus(); e.preventDefault(); }
      }
      return;
    }
    if (!keysOn || typing(el)) return;
    if (e.key === "?") { $("keys")?.togglePopover(); e.preventDefault(); return; }
    if ($("keys")?.matches(":popover-open")) return;
    if (e.key === "j" || e.key === "k") { if (step(el, e.key === "j" ? 1 : -1)) e.preventDefault(); return; }
    if (!/^[/a-z]$/.test(e.key)) return;
    // In the queue o, a and r open the row that has the focus. No key of a list decides.
    const row = el.closest("[data-rows=keys] tr");
    if (row && /^[oar]$/.test(e.key)) {
      const to = row.querySelector(e.key === "o" ? "[data-row]" : `[data-act="${e.key}"]`);
      if (to) { e.preventDefault(); to.click(); }
      return;
    }
    const goal = [...document.querySelectorAll(`[data-key="${e.key}"]`)].find(shown);
    if (!goal) return;
    e.preventDefault();
    // A key never presses a button: it goes there, and Enter presses it.
    if (goal.matches("a")) goal.click(); else goal.focus();
  });

  document.addEventListener("click", (e) => {
    if (e.target.closest("[data-print]")) window.print();
  });

  // htmx keeps the focus on an element of the same id and honours autofocus. When neither is there, the work gets it,
  // so that the next Tab starts in it and not at the top of the page.
  document.addEventListener("htmx:after:swap", (e) => {
    start();
    if (document.activeElement === document.body && e.detail.ctx?.target?.id !== "changed") $("desk")?.focus();
  });

  document.addEventListener("htmx:error", (e) => {
    const ctx = e.detail.ctx;
    if (!ctx || ctx.response || ctx.sourceElement?.id === "changed") return;
    const p = document.createElement("p");
    p.className = "panel no";
    p.textContent = "No answer came back. We do not know whether it was done: load the page again and look before you press once more.";
    $("alert")?.replaceChildren(p);
  });

  start();
})();
