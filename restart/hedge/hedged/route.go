package hedged

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/straggler-go/straggler/restart/hedge"
)

// Route is a rule that goroutines share. Create one for each service with [NewRoute].
type Route struct {
	lock sync.Mutex
	rule hedge.Rule
}

// NewRoute returns a route that asks the rule, such as a Hedger. From then on use the rule only through the route.
func NewRoute(rule hedge.Rule) *Route { return &Route{rule: rule} }

// Use calls f with the rule and the present time, while no other goroutine uses the rule. For example, f reads the
// ledger of a Hedger. It must not keep the rule.
func (r *Route) Use(f func(rule hedge.Rule, now time.Time)) {
	r.lock.Lock()
	defer r.lock.Unlock()
	f(r.rule, time.Now()) // under the lock, so that time does not step back for the rule
}

// Ledger returns the counts of a route whose rule has a ledger, as a Hedger and a rule that embeds one have; otherwise
// zeros.
func (r *Route) Ledger() (l hedge.Ledger) {
	r.Use(func(rule hedge.Rule, _ time.Time) {
		if h, ok := rule.(interface{ Ledger() hedge.Ledger }); ok {
			l = h.Ledger()
		}
	})
	return l
}

// PushBack records that a server has asked for no second requests for the given time.
func (r *Route) PushBack(wait time.Duration) {
	r.Use(func(rule hedge.Rule, now time.Time) { rule.PushBack(now, wait) })
}

// Start records that a first request is sent now. Start, Late and Done are for a host that runs its requests itself;
// see the methods of hedge.Hedger. If a rule wants a second request for an unsafe request, Start refuses it.
func (r *Route) Start(q hedge.Request) (id hedge.ID, d hedge.Decision) {
	r.Use(func(rule hedge.Rule, now time.Time) { id, d = rule.Start(now, q) })
	if !q.Safe && d.Action != hedge.None {
		d = hedge.Decision{Reason: hedge.NotSafe}
	}
	return id, d
}

// Late decides whether the second request is sent now.
func (r *Route) Late(id hedge.ID) (d hedge.Decision) {
	r.Use(func(rule hedge.Rule, now time.Time) { d = rule.Late(now, id) })
	return d
}

// Done records that a request has ended.
func (r *Route) Done(id hedge.ID, attempt hedge.Attempt, outcome hedge.Outcome) {
	r.Use(func(rule hedge.Rule, now time.Time) { rule.Done(now, id, attempt, outcome) })
}

// second is the key of the machine that the second run avoids.
type second struct{}

// Second reports whether ctx belongs to a second run, and which machine it should avoid: the machine that [Chose] has
// named for the first run, else the Machine of the request. It is empty if nobody has named one. A balancer or a dialer
// reads it. If a run calls Do in its turn, Second tells of the inner call.
func Second(ctx context.Context) (avoid string, ok bool) {
	avoid, ok = ctx.Value(second{}).(string)
	return avoid, ok
}

// choice is the key of the machine that a run has chosen.
type choice struct{}

// Chose records the machine to which a run of Do has been sent. Whoever chooses among several machines calls Chose with
// the context of the run, before the run is sent: only then can the second run go to another machine. Chose does
// nothing if ctx belongs to no run. If a run tries several machines, the last one counts.
func Chose(ctx context.Context, machine string) {
	if chosen, ok := ctx.Value(choice{}).(*atomic.Pointer[string]); ok {
		chosen.Store(&machine)
	}
}
