// Package live shows a running batch as a web page: the running attempts, the stragglers among them, their causes, and
// the decisions of the policy. It is for people on call. Metrics for Prometheus are beside the page.
//
//	view := live.New(live.Options{Token: token})
//	config.OnEvent = view.Watch("resize", live.Names{}).OnEvent // of an engine.Config or a tracker.Config
//	http.Handle("/stragglers/", view)
//
// The view hears the events of a tracker, so every engine and every tracker can feed it. An event costs O(1), and the end
// of a phase of n tasks O(n log n). A viewer costs the batch nothing: a page is made from a copy, and a viewer that hangs
// holds no lock.
//
// # Who makes the others wait
//
// In a job of many steps, such as a training job, each step waits for its slowest worker. Watch each step as a phase, all
// under one name, and close it at its end. The page then says who is last how often, what that costs, and why, by
// estimate/causes:
//
//	w5 was last in 97 % of 238 phases; if all were alike, each would be last in 10 %.
//
// The position of a worker is the number of its task. The time of a task runs from the begin of its first attempt to its
// end, and its machine is that of the attempt that ran longest. A phase is left out if one of its tasks has no end, or
// began after another task had ended, as in a batch with more tasks than slots. A phase of over 10,000 tasks is left out,
// too. The memory is some 500 bytes for each machine and each task of a phase.
//
// The path of the page is any path. Below it, "part" is the changing part of the page, and "metrics" are the metrics.
package live

import (
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/straggler-go/straggler/restart/engine/shadow"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Options are the settings of a view. The zero value has a sensible default for each field.
type Options struct {
	// Title is the title of the page. "" means "Stragglers".
	Title string
	// Token guards the page: a request must have the header "Authorization: Bearer TOKEN", or the parameter "token" in
	// its address. "" means that everybody may read the page.
	Token string
	// Now returns the present time. Nil means time.Now.
	Now func() time.Time
}

// View is an http.Handler that shows phases. It is safe for concurrent use.
type View struct {
	o  Options
	mu sync.Mutex
	// The phases, in the order in which they began to be watched.
	watches []*Watch
	waits   map[string]*waits // by the name of the phases
}

// New returns a view without phases.
func New(o Options) *View {
	if o.Title == "" {
		o.Title = "Stragglers"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &View{o: o, waits: map[string]*waits{}}
}

// Names give names to the numbers of a phase. A nil function gives "task 17" and "machine 3".
type Names struct {
	Task    func(task int) string
	Machine func(machine int) string
	// Work is the amount of work of each task; nil if it is not known. Times are then compared per unit of work.
	Work []float64
}

// Watch begins to show a phase. Set OnEvent of the phase's configuration to the method of the result, before the phase
// is made. If a phase of this name is shown, the new phase takes its place. Phases of one name are of one kind: the view
// counts over all of them who makes the others wait.
func (v *View) Watch(name string, n Names) *Watch {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.waits[name] == nil {
		v.waits[name] = &waits{}
	}
	w := newWatch(name, n, v.waits[name])
	v.watches = slices.DeleteFunc(v.watches, func(old *Watch) bool { return old.name == name })
	v.watches = append(v.watches, w)
	return w
}

// Forget stops to show the phase of a name, and forgets who made the others wait in phases of this name.
func (v *View) Forget(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.waits, name)
	v.watches = slices.DeleteFunc(v.watches, func(old *Watch) bool { return old.name == name })
}

// ServeHTTP answers with the page, its changing part, or the metrics.
func (v *View) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	if !v.allows(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a token is needed", http.StatusUnauthorized)
		return
	}
	v.mu.Lock()
	watches := slices.Clone(v.watches)
	v.mu.Unlock()
	now := v.o.Now()
	phases := make([]phase, len(watches))
	for i, watch := range watches {
		phases[i] = watch.picture(now)
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'")
	last := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	switch last {
	case "metrics":
		h.Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		writeMetrics(w, phases)
	case "part":
		h.Set("Content-Type", "text/html; charset=utf-8")
		_ = pages.ExecuteTemplate(w, "part", phases) // an error means that the viewer is gone
	default:
		h.Set("Content-Type", "text/html; charset=utf-8")
		_ = pages.ExecuteTemplate(w, "page", struct {
			Title  string
			Phases []phase
		}{v.o.Title, phases})
	}
}

// allows reports whether a request has the token.
func (v *View) allows(r *http.Request) bool {
	if v.o.Token == "" {
		return true
	}
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		given = r.URL.Query().Get("token")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(v.o.Token)) == 1
}

// SetBill shows the time that the policy would have saved, for a phase in shadow mode.
func (w *Watch) SetBill(b shadow.Bill) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bill = b
}

// SetLedger shows the ledger of the phase: the numbers of copies and restarts, and their wasted time.
func (w *Watch) SetLedger(l tracker.Ledger) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ledger, w.hasLedger = l, true
}
