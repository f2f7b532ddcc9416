package hedgerules

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart/hedge"
)

const (
	// The number of answers in the window, and of the latest operations that a rule knows.
	mostAnswers, mostOpen = 4096, 1 << 14
	// The number of answers from which a quantile is used.
	leastAnswers = 20
)

// Config contains the choices of a rule. The functions of the package return the choices of known systems.
type Config struct {
	// Delay is the delay of a rule without a quantile; 0 sends the second request at once.
	Delay time.Duration `want:"length"`
	// Quantile is the share of recent answers that came before the delay; 0 means the fixed Delay.
	Quantile float64 `want:"probability"`
	// OfAttempt says that an answer's time is that of the request which brought it. Otherwise it is the time since the
	// first request was sent.
	OfAttempt bool
	// Refresh is how often the quantile is computed; 0: for each request. Least is the shortest delay.
	Refresh, Least time.Duration `want:"length"`
	// ExtraLoad is the largest number of second requests for each first request; 0 means no bound. PerSecond more are
	// allowed in each second, and unused ones are lost after Keep.
	ExtraLoad float64       `want:"share"`
	PerSecond float64       `want:"factor"`
	Keep      time.Duration `want:"length"`
	// Tokens is the largest number of tokens. The rule starts with this number. A failure takes one token, an answer
	// gives back Ratio of a token, and no second request is sent while half of the tokens or fewer are left. 0 means
	// that failures do not count.
	Tokens, Ratio float64 `want:"factor"`
}

// Validate returns an error for the first field that is out of range, or nil.
func (c Config) Validate() error { return check.Valid(c) }

// Fixed sends a second request after a fixed delay.
func Fixed(delay time.Duration) Config { return Config{Delay: delay} }

// Quantile sends a second request after the p-quantile of the times of the latest requests that won.
func Quantile(p float64) Config { return Config{Quantile: p, OfAttempt: true} }

// Finagle is BackupRequestFilter of Finagle: it sends a second request after the quantile 1-extraLoad of the latest
// answers, refreshed every 3 s and at least 1 ms. Its budget is extraLoad of the requests and 10 more each second, over
// 10 s.
func Finagle(extraLoad float64) Config {
	const refresh, least, perSecond, keep = 3 * time.Second, time.Millisecond, 10, 10 * time.Second // Finagle's defaults
	return Config{
		Quantile: 1 - extraLoad, Refresh: refresh, Least: least,
		ExtraLoad: extraLoad, PerSecond: perSecond, Keep: keep,
	}
}

// Cassandra is speculative_retry of Cassandra, such as "99p" for 0.99: it sends a second request after this quantile of
// the latest answers, refreshed every 5 s, without a budget.
func Cassandra(p float64) Config {
	const refresh = 5 * time.Second // the default timeout of a read, in which Cassandra refreshes it
	return Config{Quantile: p, Refresh: refresh}
}

// GRPC is the hedging policy of gRPC's proposal A6 with two attempts: it sends a second request after a fixed delay.
// Failures take a token of 10, answers give back 0.1, and second requests stop at 5 tokens.
func GRPC(delay time.Duration) Config {
	const tokens, ratio = 10, 0.1 // the example of the proposal
	return Config{Delay: delay, Tokens: tokens, Ratio: ratio}
}

// call is one of the latest operations.
type call struct {
	id       hedge.ID
	began    time.Duration
	sent     time.Duration // when the second request was sent
	safe     bool
	hedged   bool
	answered bool
	machine  string
}

// Rule is a rule with its state. Create one with [New].
type Rule struct {
	config Config
	clock  clock.Clock
	open   [mostOpen]call
	last   hedge.ID
	// The latest answers, and the same as a ring.
	times estimate.Empirical
	ring  []float64
	next  int
	// The delay, and when it was computed.
	delay     time.Duration
	refreshed time.Duration
	// The second requests that may be sent, when they were counted, and the tokens of failures.
	saved, failures float64
	counted         time.Duration
	pushed          time.Duration
}

var _ hedge.Rule = (*Rule)(nil)

// New returns a rule that has seen no request, or an error that names the field of c that is out of range.
func New(c Config) (*Rule, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Rule{config: c, delay: c.Delay}, nil
}

// Start records that a first request is sent now. O(1), and O(log n) when the quantile is computed.
func (r *Rule) Start(now time.Time, q hedge.Request) (hedge.ID, hedge.Decision) {
	at := r.clock.At(now)
	r.last++
	*r.find(r.last) = call{id: r.last, began: at, safe: q.Safe, machine: q.Machine}
	c := &r.config
	r.saved += c.ExtraLoad + float64(c.PerSecond*(at-r.counted).Seconds())
	r.counted = at
	// The rate of requests is not known, so the unused part of ExtraLoad is bounded by the window of answers.
	r.saved = min(r.saved, float64(c.PerSecond*c.Keep.Seconds())+float64(c.ExtraLoad*mostAnswers))
	switch {
	case !q.Safe:
		return r.last, hedge.Decision{Reason: hedge.NotSafe}
	case c.Quantile > 0 && r.times.Len() < leastAnswers:
		return r.last, hedge.Decision{Reason: hedge.Learning, Value: float64(r.times.Len()), Threshold: leastAnswers}
	case c.Quantile > 0 && (r.delay == 0 || at-r.refreshed >= c.Refresh):
		r.delay, _ = num.Duration(r.times.Quantile(c.Quantile))
		r.delay, r.refreshed = max(r.delay, c.Least, 1), at
	}
	return r.last, r.wait(0)
}

// find returns the room of the operation with the number id.
func (r *Rule) find(id hedge.ID) *call { return &r.open[id%mostOpen] }

// Late decides whether the second request is sent now. O(1).
func (r *Rule) Late(now time.Time, id hedge.ID) hedge.Decision {
	at := r.clock.At(now)
	o := r.find(id)
	age := at - o.began
	switch {
	case o.id != id || id == 0 || o.answered:
		return hedge.Decision{Reason: hedge.NotOpen}
	case !o.safe:
		return hedge.Decision{Reason: hedge.NotSafe}
	case o.hedged:
		return hedge.Decision{Reason: hedge.AlreadySent, Value: (at - o.sent).Seconds()}
	case age < r.delay:
		return r.wait(age)
	case r.config.ExtraLoad > 0 && r.saved < 1:
		return hedge.Decision{Reason: hedge.BudgetSpent, Value: r.saved, Threshold: 1}
	case r.config.Tokens > 0 && r.failures >= r.config.Tokens/2:
		return hedge.Decision{Reason: hedge.BudgetSpent, Value: r.config.Tokens - r.failures, Threshold: r.config.Tokens / 2}
	case r.pushed > at:
		return hedge.Decision{Reason: hedge.PushedBack, Value: (r.pushed - at).Seconds()}
	}
	o.hedged, o.sent = true, at
	r.saved--
	d := r.wait(age)
	d.Action, d.Reason, d.After, d.Avoid = hedge.Send, hedge.Late, 0, o.machine
	return d
}

// wait returns the decision about a request of the given age that is not late yet.
func (r *Rule) wait(age time.Duration) hedge.Decision {
	return hedge.Decision{
		Action: hedge.Wait, Reason: hedge.NotLate, After: r.delay - age, Value: age.Seconds(), Threshold: r.delay.Seconds(),
	}
}

// Done records that a request of an operation has ended. Only the first answer counts. Done ignores a second request
// that was not sent. O(log n).
func (r *Rule) Done(now time.Time, id hedge.ID, attempt hedge.Attempt, outcome hedge.Outcome) {
	at := r.clock.At(now)
	o := r.find(id)
	switch {
	case o.id != id || id == 0 || o.answered || attempt != hedge.First && !o.hedged:
	case outcome == hedge.Failed:
		r.failures = min(r.failures+1, r.config.Tokens)
	case outcome == hedge.Answered:
		o.answered = true
		r.failures = max(r.failures-r.config.Ratio, 0)
		from := o.began
		if attempt == hedge.Second && r.config.OfAttempt {
			from = o.sent
		}
		r.observe((at - from).Seconds())
	}
}

// observe adds the time of an answer to the window.
func (r *Rule) observe(seconds float64) {
	if r.config.Quantile == 0 || !r.times.Insert(seconds) {
		return
	}
	if len(r.ring) < mostAnswers {
		r.ring = append(r.ring, seconds)
		return
	}
	r.times.Delete(r.ring[r.next])
	r.ring[r.next] = seconds
	r.next = (r.next + 1) % mostAnswers
}

// PushBack records that a server has asked for no second requests for the given time. O(1).
func (r *Rule) PushBack(now time.Time, wait time.Duration) {
	r.pushed = max(r.pushed, num.Add(r.clock.At(now), max(wait, 0)))
}
