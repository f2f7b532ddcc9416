package live

import (
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
)

// Most returns the largest number of attempts in a bar.
func (p phase) Most() int { return max(p.most, 1) }

// Height returns the height of a bar, of 60.
func (p phase) Height(n int) float64 { return 60 * float64(n) / float64(p.Most()) }

// Headline says in one sentence how the phase does.
func (p phase) Headline() string {
	n := len(p.Stragglers) + p.More
	switch {
	case p.Closed:
		return "The phase is over."
	case !p.Known:
		return fmt.Sprintf("%d attempts run. No task has ended, so nothing is known about what is slow.", p.Running)
	case n == 0:
		return fmt.Sprintf("All %d running attempts are within %.1f typical times.", p.Running, slowFrom)
	}
	return fmt.Sprintf("%d of %d running attempts take longer than %.1f typical times.", n, p.Running, slowFrom)
}

// pages are the templates of the page. html/template escapes every name.
var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"x":      func(i int) int { return i * 10 },
	"y":      func(h float64) float64 { return 60 - h },
	"late":   func(i int) bool { return float64(i) >= slowFrom*perTypical },
	"clock":  func(s straggler) string { return s.Begun.Format("15:04:05") },
	"points": func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) },
}).Parse(`{{define "page"}}<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title><style>
:root{color-scheme:light dark;--slow:#b3261e;--ok:#1a6f3c;--line:#8888;--soft:#8882}
@media(prefers-color-scheme:dark){:root{--slow:#ff8a80;--ok:#7ddca0}}
body{font:16px/1.45 system-ui,sans-serif;margin:0 auto;padding:1rem;max-width:72rem}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.15rem;margin:1.6rem 0 .2rem}p{margin:.3rem 0}
svg{width:100%;max-width:40rem;height:auto;display:block;margin:.6rem 0}
.ok{fill:var(--ok)}.late{fill:var(--slow)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top}
.bar{background:linear-gradient(90deg,var(--ok) var(--typical),var(--slow) var(--typical));height:.5rem;min-width:.2rem;border-radius:2px}
.track{background:var(--soft);width:8rem;border-radius:2px}
@media(max-width:40rem){table,tbody,tr,td{display:block}thead{display:none}tr{border-bottom:1px solid var(--line);padding:.4rem 0}
td{border:0;padding:0}td:first-child{font-weight:600}.track{width:100%}}
</style></head><body><main><h1>{{.Title}}</h1><div id="part" aria-live="polite">{{template "part" .Phases}}</div></main>
<script>
setInterval(async()=>{try{const a=location.pathname.replace(/[^/]*$/,"")+"part"+location.search,r=await fetch(a);
if(r.ok)document.getElementById("part").innerHTML=await r.text()}catch(e){}},2000)
</script></body></html>{{end}}
{{define "part"}}{{range .}}<section><h2>{{.Name}}</h2><p><strong>{{.Headline}}</strong></p>
<p>{{.Ended}} tasks have ended{{if .Since}} in {{.Since}}{{end}}, {{.Running}} attempts run, {{.Waiting}} wait in a queue.
{{if .Known}}A task typically takes {{.Typical}}{{if .HasWorks}} for each unit of work{{end}}.{{end}}
{{.Ledger.Copies}} copies and {{.Ledger.Restarts}} restarts were made.
{{if .Bill.Tasks}}Acting would have saved time: {{.Bill}}.{{end}}</p>
{{if .Waits}}<p>{{range .Waits}}{{.}} {{end}}</p>{{end}}
{{if .Known}}{{$p := .}}<svg viewBox="0 0 240 76" role="img" aria-label="running attempts by age, in typical times">
{{range $i, $n := .Bars}}<rect class="{{if late $i}}late{{else}}ok{{end}}" x="{{x $i}}" width="9" y="{{y ($p.Height $n)}}" height="{{$p.Height $n}}"><title>{{$n}}</title></rect>{{end}}
<g font-size="7" fill="currentColor"><text x="38" y="74">1 typical time</text><text x="118" y="74">3</text><text x="198" y="74">5 and more</text></g></svg>{{end}}
{{if .Stragglers}}<div class="scroll"><table><thead><tr><th>Task</th><th>Machine</th><th>Since</th><th>Typical times</th><th>Cause</th><th>Decision</th></tr></thead><tbody>
{{range .Stragglers}}<tr><td>{{.Task}}</td><td>{{.Machine}}</td><td>{{clock .}}</td><td>{{printf "%.1f" .Times}} times<div class="track"><div class="bar" style="width:{{printf "%.0f" .Width}}%;--typical:{{printf "%.0f" .Typical}}%"></div></div></td><td>{{.Cause}}</td><td>{{.Decision}}</td></tr>
{{end}}</tbody></table></div>{{if .More}}<p>{{.More}} more stragglers are not listed.</p>{{end}}{{end}}</section>
{{else}}<p>No phase runs.</p>{{end}}{{end}}`))

// writeMetrics writes the metrics of all phases in the format of OpenMetrics.
func writeMetrics(w io.Writer, phases []phase) {
	var b strings.Builder
	metric := func(name, unit, help, kind string, of func(*phase) float64) {
		fmt.Fprintf(&b, "# HELP straggler_%s %s\n# TYPE straggler_%s %s\n", name, help, name, kind)
		if unit != "" {
			fmt.Fprintf(&b, "# UNIT straggler_%s %s\n", name, unit)
		}
		suffix := ""
		if kind == "counter" {
			suffix = "_total"
		}
		for i := range phases {
			fmt.Fprintf(&b, "straggler_%s%s{phase=%s} %s\n", name, suffix, quote(phases[i].Name),
				strconv.FormatFloat(of(&phases[i]), 'g', -1, 64))
		}
	}
	metric("running", "", "Attempts that run.", "gauge", func(p *phase) float64 { return float64(p.Running) })
	metric("queued", "", "Attempts that wait in a queue.", "gauge", func(p *phase) float64 { return float64(p.Waiting) })
	metric("stragglers", "", "Running attempts that take over 1.5 typical times.", "gauge",
		func(p *phase) float64 { return float64(len(p.Stragglers) + p.More) })
	metric("typical_seconds", "seconds", "Median run time.", "gauge", func(p *phase) float64 { return p.Typical.Seconds() })
	metric("ended", "", "Tasks that have ended.", "counter", func(p *phase) float64 { return float64(p.Ended) })
	metric("copies", "", "Copies that were made.", "counter", func(p *phase) float64 { return float64(p.Ledger.Copies) })
	metric("restarts", "", "Restarts that were made.", "counter", func(p *phase) float64 { return float64(p.Ledger.Restarts) })
	metric("wasted_seconds", "seconds", "Run time of attempts that did not end their task.", "counter",
		func(p *phase) float64 { return p.Ledger.Wasted.Seconds() })
	metric("saved_ratio", "ratio", "Share of the time that acting would have saved, in shadow mode.", "gauge",
		func(p *phase) float64 { return p.Bill.Saved })
	metric("steps", "", "Closed phases in which it was counted who makes the others wait.", "counter",
		func(p *phase) float64 { return float64(p.waiting.Steps) })
	metric("wait_ratio", "ratio", "Share of the time of these phases that the slowest task takes beyond the median of the others.", "gauge",
		func(p *phase) float64 { return p.waiting.Wait })
	b.WriteString("# HELP straggler_last Phases in which a worker was the last.\n# TYPE straggler_last counter\n")
	for i := range phases {
		for _, l := range phases[i].waiting.last {
			fmt.Fprintf(&b, "straggler_last_total{phase=%s,worker=%s} %d\n", quote(phases[i].Name), quote(l.worker), l.Last)
		}
	}
	b.WriteString("# EOF\n")
	_, _ = io.WriteString(w, b.String()) // an error means that the viewer is gone
}

// quote returns a label's value as OpenMetrics wants it.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(s, "?")) + `"`
}
