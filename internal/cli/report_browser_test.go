package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// frames is a page that shows another one in two widths, uses it, and writes down what
// it finds: whether the page is wider than its frame, whether the story is on the first screen,
// whether tables can be sorted and searched, and charts be read.
const frames = `<!DOCTYPE html><meta charset="utf-8"><title>frames</title>
<iframe id="phone" src="/page" width="360" height="800"></iframe><iframe id="desk" src="/page" width="1600" height="900"></iframe>
<pre id="result">not finished</pre>
<script>
window.addEventListener("load", () => {
  const lines = [];
  const check = (ok, text) => { if (!ok) lines.push(text); };
  for (const id of ["phone", "desk"]) {
    const d = document.getElementById(id).contentDocument, w = d.defaultView, root = d.documentElement;
    check(root.scrollWidth <= w.innerWidth, id + ": the page is " + root.scrollWidth + " pixels wide");
    const story = d.querySelector(".opening strong") || d.querySelector(".lead");
    check(story.getBoundingClientRect().bottom < w.innerHeight / 2, id + ": the story ends at " + story.getBoundingClientRect().bottom);
    for (const e of d.querySelectorAll("body *")) {
      if (e.closest(".scroll, .skip, pre, svg")) continue;
      const r = e.getBoundingClientRect();
      check(r.right <= w.innerWidth + 1, id + ": " + e.tagName + " " + e.className + " ends at " + r.right);
    }
  }
  const d = document.getElementById("desk").contentDocument;
  const table = d.getElementById("by-op"), titles = [...table.tHead.rows[0].cells].map(c => c.textContent);
  const column = titles.indexOf("p99");
  const values = () => [...table.tBodies[0].rows].map(r => Number(r.cells[column].dataset.v)).filter(v => !Number.isNaN(v));
  const button = table.tHead.rows[0].cells[column].querySelector("button");
  const sorted = (list, sign) => list.every((v, i) => i === 0 || sign * (v - list[i - 1]) >= 0);
  button.click();
  check(sorted(values(), -1), "p99 is not sorted: " + values());
  check(table.tHead.rows[0].cells[column].getAttribute("aria-sort") === "descending", "no aria-sort");
  button.click();
  check(sorted(values(), 1), "p99 is not sorted the other way: " + values());
  const search = d.querySelector('input[aria-controls="by-op"]');
  search.value = "ldlm enq";
  search.dispatchEvent(new d.defaultView.Event("input"));
  const shown = [...table.tBodies[0].rows].filter(r => !r.hidden).map(r => r.cells[0].textContent);
  check(shown.length === 1 && shown[0] === "LDLM_ENQUEUE", "search shows " + shown);
  const times = d.querySelector("select"), time = d.querySelector("time"), before0 = time.textContent;
  times.value = "u";
  times.dispatchEvent(new d.defaultView.Event("change"));
  const iso = new Date(Number(time.dataset.u) / 1000).toISOString().slice(11, 19);
  check(time.textContent.startsWith(iso + "."), "in UTC a time is " + time.textContent + ", want " + iso);
  const cells = [...d.querySelectorAll("#latency rect title")], cell = cells[cells.length - 1].parentNode.getBoundingClientRect();
  const touch = new d.defaultView.MouseEvent("click", {bubbles: true, clientX: cell.left + 1, clientY: cell.top + 1});
  d.querySelector("#latency .chart").dispatchEvent(touch);
  const readout = d.querySelector("#latency .readout").textContent;
  check(readout.startsWith(cells[cells.length - 1].textContent + ", "), "the chart says " + readout);
  times.value = "r";
  times.dispatchEvent(new d.defaultView.Event("change"));
  check(time.textContent === before0, "a time is " + time.textContent + ", was " + before0);
  check(d.body.firstElementChild.matches(".skip"), "the first element is " + d.body.firstElementChild.className);
  const copied = d.querySelector(".frame button").title;
  check(copied.startsWith("Copy: lshark -V -Y 'frame == "), "a frame copies " + copied);
  const chart = d.querySelector("#latency .chart");
  chart.scrollIntoView({block: "center", behavior: "instant"});
  const box = chart.getBoundingClientRect(), outside = () => d.querySelectorAll("tr.outside").length;
  const drag = (type, part) => chart.dispatchEvent(new d.defaultView.PointerEvent(type, {bubbles: true, clientX: box.left + box.width * part, clientY: box.top + 20, buttons: 1, pointerType: "mouse"}));
  drag("pointerdown", .4);
  drag("pointermove", .45);
  check(chart.getBoundingClientRect().top === box.top && d.querySelectorAll(".brush").length === 2, "the chart moves away under the pointer");
  drag("pointerup", .45);
  check(outside() > 0, "a range of time leaves all rows");
  check(Math.abs(chart.getBoundingClientRect().top - box.top) < 2, "the chart moves from " + box.top + " to " + chart.getBoundingClientRect().top);
  [...d.querySelectorAll(".tools button")].find(b => b.textContent === "All times").click();
  check(outside() === 0 && !d.querySelector(".brush"), "rows stay outside of the range of time");
  const theme = d.querySelector("button.theme"), before = d.defaultView.getComputedStyle(d.body).backgroundColor;
  theme.click();
  check(d.defaultView.getComputedStyle(d.body).backgroundColor !== before, "the colours stay " + before);
  const tree = d.querySelector("details:has(pre)"), visible = () => tree.querySelector("pre").checkVisibility();
  check(!visible(), "trees are not folded");
  tree.open = true;
  check(visible(), "trees cannot be opened");
  document.getElementById("result").textContent = lines.join("\n") || "good";
});
</script>`

// TestReportInBrowser shows pages in Chromium, where it is installed.
func TestReportInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip(err)
	}
	for _, sample := range []string{recoverySample, "../../pcaps/io.pcap.zst", ruleSamples + "evicted.pcap.zst"} {
		p := pageOf(t, sample)
		var others []string
		mux := http.NewServeMux()
		mux.HandleFunc("/{path...}", func(_ http.ResponseWriter, r *http.Request) { others = append(others, r.URL.Path) })
		mux.HandleFunc("/favicon.ico", http.NotFound) // the browser itself asks for it
		for path, text := range map[string]string{"/page": p.text, "/frames": frames} {
			mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, text)
			})
		}
		server := httptest.NewServer(mux)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(),
			"--enable-logging=stderr", "--virtual-time-budget=10000", "--window-size=2000,1000", "--dump-dom", server.URL+"/frames")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		cancel()
		server.Close()
		if err != nil {
			t.Fatalf("%v: %s", err, &errs)
		}
		root := must.Value(html.Parse(&out))(t)
		frames := &page{root: root}
		assert.Equal(t, textOf(frames.byID("result")), "good", sample)
		for line := range strings.Lines(errs.String()) {
			assert.That(t, !strings.Contains(line, "CONSOLE"), "%s: %s", sample, line)
		}
		assert.That(t, len(others) <= 0, "%s: the page loads %q", sample, others)
	}
}

// TestReportInPrint prints a page by Chromium, where it is installed: no heading is alone at the foot of a
// sheet, and no caption of a diagram that is folded.
func TestReportInPrint(t *testing.T) {
	if !wiretest.All || testing.Short() {
		t.Skip("takes seconds")
	}
	for _, program := range []string{"chromium", "pdftotext"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	p := pageOf(t, ruleSamples+"lock_contention.pcap.zst")
	folder := t.TempDir()
	text, sheets := filepath.Join(folder, "page.html"), filepath.Join(folder, "page.pdf")
	must.NoError(t, os.WriteFile(text, []byte(p.text), 0o600))
	cmd := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(),
		"--no-pdf-header-footer", "--print-to-pdf="+sheets, "file://"+text)
	out, err := cmd.CombinedOutput()
	must.That(t, err == nil, "%v: %s", err, out)
	printed := string(must.Value(exec.Command("pdftotext", "-layout", sheets, "-").Output())(t))
	headings := make(map[string]bool)
	for _, n := range p.find(func(n *html.Node) bool { return n.Data == "h2" || n.Data == "h3" || n.Data == "caption" }) {
		headings[strings.Join(strings.Fields(textOf(n)), " ")] = true
	}
	list := strings.Split(printed, "\f")
	must.That(t, len(list) > 5, "%d sheets", len(list))
	for i, sheet := range list {
		lines := strings.Split(strings.TrimSpace(sheet), "\n")
		last := strings.Join(strings.Fields(lines[len(lines)-1]), " ")
		assert.That(t, !headings[last], "sheet %d ends with %q", i+1, last)
	}
	assert.Equal(t, strings.Count(printed, "Ladder of "), strings.Count(p.text, `<details class="followed" open`), "captions of ladders")
}
