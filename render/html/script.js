
"use strict";
// Sorting and searching of tables, values of charts, a range of time, commands for frames, and the choice of colours and times.
// Without it the page is complete.
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
    if (rows.length < 8 || table.closest(".histograms, .values")) continue;
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
  // Times of the page are microseconds since the epoch, and seconds since the first frame in text.
  const first = Number(root.dataset.first), timed = [...document.querySelectorAll("[data-u]")];
  for (const e of timed) e.dataset.text = e.textContent;
  const times = make("select", {"aria-label": "Times"});
  for (const [value, text] of [["r", "Relative times"], ["a", "Local time"], ["u", "UTC"]]) times.append(make("option", {value}, text));
  const absolute = (micros, withDate) => {
    const day = new Date(Math.floor(micros / 1000) - (times.value === "a" ? new Date(micros / 1000).getTimezoneOffset() * 60000 : 0));
    return day.toISOString().slice(withDate ? 0 : 11, 19).replace("T", " ") + "." + String(micros % 1000000).padStart(6, "0");
  };
  const severalDays = () => absolute(first, true).slice(0, 10) !== absolute(Number(root.dataset.last), true).slice(0, 10);
  const showTimes = () => {
    const withDate = severalDays();
    for (const e of timed) {
      const text = absolute(Number(e.dataset.u), withDate && e.localName === "time");
      e.textContent = times.value === "r" ? e.dataset.text : !e.classList.contains("tick") ? text : text.replace(/\.?0+$/, "");
    }
  };
  times.addEventListener("change", showTimes);
  times.value = root.dataset.times || "r";
  showTimes();
  // The value next to the finger or pointer is shown below its chart.
  for (const svg of document.querySelectorAll(".chart, .lane")) {
    const parts = [...svg.querySelectorAll("title")], box = svg.closest(".scroll");
    if (!parts.length) continue;
    let out = box.nextElementSibling;
    if (!out.classList.contains("readout")) box.after(out = make("p", {class: "readout", role: "status"}, svg.classList.contains("lane") ? "" : "Touch the chart to read its values."));
    let marked;
    const read = event => {
      let nearest, least = Infinity;
      for (const title of parts) {
        const r = title.parentNode.getBoundingClientRect();
        const distance = Math.hypot(Math.max(r.left - event.clientX, 0, event.clientX - r.right), Math.max(r.top - event.clientY, 0, event.clientY - r.bottom));
        if (distance <= least) [nearest, least] = [title, distance];
      }
      if (marked) marked.classList.remove("read");
      marked = nearest.parentNode;
      marked.classList.add("read");
      let text = nearest.textContent;
      if (times.value !== "r" && svg.dataset.from) {
        const from = Number(svg.dataset.from), part = (event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width;
        const at = (part * 960 - 76) / 872;
        text += ", " + absolute(Math.round(from + Math.min(1, Math.max(0, at)) * (Number(svg.dataset.to) - from)), severalDays());
      }
      out.textContent = text;
    };
    svg.addEventListener("click", read);
    svg.addEventListener("pointermove", read);
  }
  // A range of time that is dragged in a chart leaves the rows of tables and the findings in it.
  const all = make("button", {type: "button", class: "all", hidden: ""}, "All times");
  const charts = [...document.querySelectorAll(".chart[data-from]")];
  const mark = (from, to) => {
    for (const svg of charts) {
      svg.querySelector(".brush")?.remove();
      if (from === undefined) continue;
      const begin = Number(svg.dataset.from), x = t => 76 + 872 * Math.min(1, Math.max(0, (t - begin) / (Number(svg.dataset.to) - begin)));
      const rect = svg.querySelector("rect").cloneNode();
      for (const [name, v] of [["class", "brush"], ["x", x(from)], ["width", x(to) - x(from)], ["y", 0], ["height", svg.viewBox.baseVal.height - 34]]) rect.setAttribute(name, v);
      svg.append(rect);
    }
  };
  const brush = (from, to) => {
    mark(from, to);
    all.hidden = from === undefined;
    for (const e of document.querySelectorAll("main tbody tr, .rpcs li, .finding")) {
      const time = e.querySelector("time[data-u]"), at = time && Number(time.dataset.u);
      e.classList.toggle("outside", !all.hidden && time !== null && (at < from || at > to));
    }
  };
  all.addEventListener("click", () => brush());
  let chart, start, range; // where a range is dragged, and what it is
  for (const svg of charts) svg.addEventListener("pointerdown", e => { if (e.pointerType !== "touch") [chart, start, range] = [svg, e.clientX]; });
  const timeAt = x => {
    const r = chart.getBoundingClientRect(), part = Math.min(1, Math.max(0, ((x - r.left) / r.width * 960 - 76) / 872));
    return Number(chart.dataset.from) + part * (Number(chart.dataset.to) - Number(chart.dataset.from));
  };
  document.addEventListener("pointermove", e => {
    if (!chart || !(e.buttons & 1) || Math.abs(e.clientX - start) < 4) return;
    range = [timeAt(Math.min(start, e.clientX)), timeAt(Math.max(start, e.clientX))];
    mark(...range);
  });
  document.addEventListener("pointerup", () => {
    if (range) { // what is hidden above the chart must not move it away
      const top = chart.getBoundingClientRect().top;
      brush(...range);
      scrollBy({top: chart.getBoundingClientRect().top - top, behavior: "instant"});
    }
    chart = range = undefined;
  });
  for (const frame of document.querySelectorAll(".frame[data-command]")) {
    const command = frame.dataset.command, copy = make("button", {type: "button", title: "Copy: " + command}, frame.textContent);
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command);
        copy.title = "Copied: " + command;
      } catch {
        prompt("Command", command);
      }
    });
    frame.replaceChildren(copy);
  }
  const button = make("button", {type: "button", class: "theme"});
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  const show = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; show(); });
  dark.addEventListener("change", show);
  show();
  const tools = make("div", {class: "tools"});
  tools.append(all, times, button);
  document.querySelector(".skip").after(tools);
})();
