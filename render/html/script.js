
"use strict";
// Sorting and searching of tables, and the choice of colours. Without it the page is complete.
(() => {
  const make = (tag, attributes, text) => {
    const e = document.createElement(tag);
    for (const name in attributes) e.setAttribute(name, attributes[name]);
    if (text) e.textContent = text;
    return e;
  };
  const value = (row, i) => {
    const cell = row.cells[i], v = cell.dataset.v;
    const text = v === undefined ? cell.textContent : v;
    const n = Number(text);
    return text !== "" && !Number.isNaN(n) ? n : text;
  };
  // Empty cells and dashes come last in both directions.
  const compare = (a, b, sign) => {
    const emptyA = a === "–" || a === "", emptyB = b === "–" || b === "";
    if (emptyA || emptyB) return emptyA - emptyB;
    if (typeof a === "number" && typeof b === "number") return sign * (a - b);
    return sign * String(a).localeCompare(String(b), undefined, {numeric: true});
  };
  // Browsers leave buttons out of headings that are printed again on the next page.
  const printed = [];
  addEventListener("beforeprint", () => { for (const [th, button] of printed) th.replaceChildren(button.textContent); });
  addEventListener("afterprint", () => { for (const [th, button] of printed) th.replaceChildren(button); });
  for (const table of document.querySelectorAll("table")) {
    const body = table.tBodies[0], rows = [...body.rows];
    if (rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((th, i) => {
      if (th.classList.contains("still") || !th.textContent) return;
      const button = make("button", {type: "button"}, th.textContent);
      th.replaceChildren(button);
      printed.push([th, button]);
      button.addEventListener("click", () => {
        const numbers = th.classList.contains("num");
        const before = th.getAttribute("aria-sort");
        const order = before ? (before === "ascending" ? "descending" : "ascending") : (numbers ? "descending" : "ascending");
        for (const other of th.parentNode.cells) other.removeAttribute("aria-sort");
        th.setAttribute("aria-sort", order);
        const sign = order === "ascending" ? 1 : -1;
        const sorted = [...body.rows].map(row => [value(row, i), row]);
        sorted.sort((a, b) => compare(a[0], b[0], sign));
        body.append(...sorted.map(x => x[1]));
      });
    });
    if (rows.length < 8 || table.closest(".histograms")) continue;
    const box = table.closest(".scroll"), label = make("label", {class: "search"}, "Search");
    const input = make("input", {type: "search", "aria-controls": table.id, "aria-label": "Search in: " + table.caption.textContent});
    const found = make("span", {role: "status"});
    label.append(input, found);
    box.before(label);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let n = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every(w => text.includes(w));
        if (!row.hidden) n++;
      }
      found.textContent = words.length ? n + " of " + rows.length : "";
    });
  }
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  const button = make("button", {type: "button", class: "theme"});
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  const show = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; show(); });
  dark.addEventListener("change", show);
  show();
  document.body.prepend(button);
})();
