package hedge

import (
	"math"
	"time"

	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/num"
	"github.com/straggler-go/straggler/restart"
)

const (
	// A Hedger knows the latest operations, at most so many. An operation that is still open when so many others have
	// started after it is forgotten.
	mostOpen = 1 << 16
	// The number of operations for which a Hedger has room at first.
	leastOpen = 1 << 6
	// Unused second requests are saved, at most 1/savedPart of the second requests of a window, and at least
	// leastSaved. More would come at once after a quiet time.
	savedPart, leastSaved = 8, 2
	// The share of slow requests is a moving mean over so many requests.
	slowWindow = 256
	// A plan must make the percentile shorter by this part. A smaller gain may be chance: the p99 of 10,000 times is
	// uncertain by 1 to 5 %.
	leastGain = 0.05
	// If no plan helps, every learnEach-th late request gets a second request all the same. Otherwise a Hedger would
	// never learn that second requests are faster than first requests, such as on other machines. If they do not win,
	// the account stops them, too.
	learnEach = 16
	// A request is slow if it takes longer than the usual median. The budget shrinks if more than slowShare of the
	// requests are slow, and is 0 if all are.
	slowShare = 0.75
	// A new plan moves the usual time by at most this factor. So a storm is not usual until it has lasted for several
	// windows: the usual time doubles in 70 plans, which are four windows.
	usualStep = 1.01
	// While more than slowShare of the requests are slow, and for a window after, the window learns nothing: the times
	// of a storm would make second requests too late after it. A slowness that lasts for more than so many times the
	// number of requests in the window is learned.
	stormWindows = 5
	// A second request is worth it if second requests win at least half as often as independent times would let them.
	winsPart = 0.5
)

// Request contains the facts about a first request.
type Request struct {
	// Class is the number of the class, less than Config.Classes. Another number means class 0.
	Class int
	// Size is the expected work of the request, in a unit of the host's choice, such as bytes. 0 means unknown. Tell
	// the size of all requests of a class, or of none: a request without a size counts as a request of mean size.
	Size float64
	// Safe says that the request may be sent twice, because to serve it twice does no harm.
	Safe bool
	// Timeout is the time until the deadline of the operation; 0 means none.
	Timeout time.Duration
	// Machine is the machine to which the first request was sent; empty if unknown.
	Machine string
}

// ID is the number of an operation. The first has the number 1. A number is not used again.
type ID uint64

// Attempt tells the two requests of an operation apart.
type Attempt uint8

const (
	// First is the first request.
	First Attempt = iota
	// Second is the second request.
	Second
)

// Outcome says how a request has ended.
type Outcome uint8

const (
	// Answered: the answer has come.
	Answered Outcome = iota
	// Cancelled: the request was given up before its answer came, because the other one was answered, or because its
	// time was over. It would have taken at least so long.
	Cancelled
	// Failed: the request has ended with an error. Its time says nothing about the times of other requests.
	Failed
)

// open is an operation with a request that has not ended.
type open struct {
	id    ID
	began time.Duration
	// When the second request was sent, and the deadline.
	sent, deadline time.Duration
	size           float64
	machine        string
	// The state of the second request as a trial.
	trial restart.Trial
	class *class
	safe  bool
	// True if a second request was sent, or would have been sent in shadow mode.
	hedged, shadow bool
	// True if the first or the second request has ended.
	over     [attempts]bool
	answered bool
}

// class is the knowledge of a Hedger about a class.
type class struct {
	times *times
	plan  Plan
	// The probability that the second request of a late request wins, if their times are independent. Field most is
	// the same for the best plan, as method allow estimates it, if it is less than Config.Wins.
	wins, most float64
	// The percentile with the best plan, also if it is not worth it.
	best float64
	// The usual median of the times of first requests; 0 while it is unknown. It moves slowly.
	usual float64
	// The median and the mean of the times of second requests.
	median, mean float64
	// True if there is a plan; if it would send nothing because second requests would win too seldom; and if it sends
	// a few second requests only to learn their times.
	planned, seldom, learns bool
	// Three numbers of times: that were not learned because of the storm, since a request was last in the storm, and in
	// the window when the storm began. Field skipped is 0 if there is no storm, and none has just ended.
	skipped, calm, window int
	// The sum of the probabilities of second requests, less their number. It stays between -1/2 and 1.
	drawn float64
}

// Hedger decides for one route: a service and the servers that can answer its requests. Create one with [New]. It is
// not safe for concurrent use.
//
// The host calls Start for each request that it sends. If the decision is Wait, the host calls Late after
// Decision.After, unless the request has ended by then. If the decision is Send, the host sends a second request to
// another machine. It calls Done for each request that ends, also for each that it cancels.
type Hedger struct {
	config  Config
	clock   clock.Clock
	classes []class
	sweep   sweep
	k       float64
	// The open requests. The request with the number id is at the index id modulo the length, which is a power of two.
	open []open
	last ID
	// The number of second requests that may be sent now, and the largest such number.
	tokens, most float64
	// The moving share of first requests that have taken longer than usual.
	slow float64
	// The time until which a server has asked for no second requests.
	pushed time.Duration
	// The account of second requests, and the attempt with which a lost one is told to it.
	trials restart.Trials
	lost   [1]restart.Attempt
	ledger Ledger
}

// New returns a Hedger that has learned nothing, or an error that names the field of c that is out of range.
func New(c Config) (*Hedger, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.Effective()
	h := &Hedger{
		config: c, classes: make([]class, c.Classes), sweep: sweep{need: 1, of: 1, extra: 1},
		k: root(c.Percentile, c.Fanout), open: make([]open, leastOpen),
		most: max(leastSaved, c.Budget*float64(c.Window)/savedPart),
	}
	for i := range h.classes {
		t, err := newTimes(c.Window)
		if err != nil {
			return nil, err
		}
		h.classes[i].times = t
	}
	return h, nil
}

// Config returns the configuration with its defaults filled in.
func (h *Hedger) Config() Config { return h.config }

// Ledger returns the counts so far. O(1).
func (h *Hedger) Ledger() Ledger {
	l := h.ledger
	l.Steps = h.clock.Steps
	return l
}

// Trials returns the account of second requests: how many were won and lost, in fractions that fade with the window.
// O(1).
func (h *Hedger) Trials() restart.Trials { return h.trials }

// Plan returns the plan of a class for a request of the given size, with times in seconds. If no plan helps, Time
// equals Alone, and the plan sends only the few second requests from which the Hedger learns. O(1).
func (h *Hedger) Plan(class int, size float64) Plan {
	c := h.class(class)
	scale, p := c.times.scale(c.times.known(size)), c.plan
	p.Delay, p.Time, p.Alone = p.Delay*scale, p.Time*scale, p.Alone*scale
	return p
}

// Quantile returns the p-quantile of the time of a first request of the given class and size, in seconds, as of the
// latest plan. It returns +Inf if too little is known. O(log n).
func (h *Hedger) Quantile(class int, size, p float64) float64 {
	c := h.class(class)
	return c.times.first.quantile(p) * c.times.scale(c.times.known(size))
}

// class returns a class, or class 0 if there is no class of this number.
func (h *Hedger) class(number int) *class {
	if number < 0 || number >= len(h.classes) {
		number = 0
	}
	return &h.classes[number]
}

// Start records that the host sends a first request now. It returns the number of the operation, and whether the host
// should ask again. O(1) amortised.
func (h *Hedger) Start(now time.Time, r Request) (ID, Decision) {
	at := h.clock.At(now)
	c := h.class(r.Class)
	h.last++
	o := h.place(at)
	*o = open{
		id: h.last, began: at, size: r.Size, safe: r.Safe, machine: r.Machine, class: c,
		deadline: num.MaxDuration, over: [attempts]bool{Second: true},
	}
	if r.Timeout > 0 {
		o.deadline = num.Add(at, r.Timeout)
	}
	h.ledger.Started++
	if h.config.Budget != Off {
		h.tokens = min(h.most, h.tokens+float64(h.config.Budget*h.shrink()))
	}
	h.trials.Won -= h.trials.Won / float64(h.config.Window)
	h.trials.Lost -= h.trials.Lost / float64(h.config.Window)
	d := h.refuses(c, o)
	if d.Reason == NoReason {
		d = Decision{Action: Wait, Reason: NotLate, Threshold: c.plan.Delay * c.times.scale(c.times.known(r.Size))}
		d.After, _ = num.Duration(d.Threshold)
	}
	return h.last, d
}

// refuses returns the reason to send no second request that is known from the start; the reason is NoReason if there is
// none.
func (h *Hedger) refuses(c *class, o *open) Decision {
	switch {
	case h.config.Budget == Off:
		return Decision{Reason: Disabled}
	case !o.safe:
		return Decision{Reason: NotSafe}
	case !c.planned:
		return Decision{Reason: Learning, Value: float64(c.times.of[First].answers), Threshold: leastAnswers}
	case !c.plan.Send:
		return h.nothing(c, o.size)
	}
	return Decision{}
}

// nothing returns the decision if no second request helps.
func (h *Hedger) nothing(c *class, size float64) Decision {
	if c.seldom {
		return Decision{Reason: WinsSeldom, Value: c.most, Threshold: h.config.Wins}
	}
	d := Decision{Reason: NothingHelps}
	scale := c.times.scale(c.times.known(size))
	d.Value, d.Threshold = c.best*scale, (1-leastGain)*c.plan.Alone*scale
	if target := h.config.Target.Seconds(); c.plan.Alone <= target {
		d.Value, d.Threshold = c.plan.Alone*scale, target*scale
	}
	return d
}

// Late decides whether the host sends the second request now. If the action is Wait, the host asks again after
// Decision.After. If the action is Send, the second request counts as sent; a host that cannot send it calls Done with
// the outcome Failed. O(1).
func (h *Hedger) Late(now time.Time, id ID) Decision {
	at := h.clock.At(now)
	o := h.find(id)
	switch {
	case o == nil || o.answered:
		return Decision{Reason: NotOpen}
	case o.hedged:
		return Decision{Reason: AlreadySent, Value: (at - o.sent).Seconds()}
	}
	c := o.class
	if d := h.refuses(c, o); d.Reason != NoReason {
		return d
	}
	scale := c.times.scale(c.times.known(o.size))
	age := at - o.began
	d := Decision{Value: age.Seconds(), Threshold: c.plan.Delay * scale}
	delay, _ := num.Duration(d.Threshold)
	if age < delay {
		d.Action, d.Reason, d.After = Wait, NotLate, delay-age
		return d
	}
	if d = h.judge(c, o, at, scale, d); d.Action != Send && d.Reason != InShadow {
		h.ledger.Refused[d.Reason]++
		return d
	}
	h.send(c, o, at, scale, d.Reason == InShadow)
	return d
}

// judge decides about a late request.
func (h *Hedger) judge(c *class, o *open, at time.Duration, scale float64, late Decision) Decision {
	if h.pushed > at {
		return Decision{Reason: PushedBack, Value: (h.pushed - at).Seconds()}
	}
	left, median := (o.deadline - at).Seconds(), c.median*scale
	if o.deadline < num.MaxDuration && left < median {
		return Decision{Reason: DeadlineNear, Value: left, Threshold: median}
	}
	if long, most := h.trials.Long(0), 1-float64(winsPart*c.wins); long > most {
		return Decision{Reason: RequestLong, Value: long, Threshold: most}
	}
	if c.drawn = min(c.drawn+c.plan.Probability, 1); c.drawn < num.Half {
		if c.learns {
			return h.nothing(c, o.size)
		}
		return Decision{Reason: NotDrawn, Value: c.drawn, Threshold: num.Half}
	}
	if h.tokens < 1 {
		if h.shrink() < 1 {
			return Decision{Reason: AllSlow, Value: h.slow, Threshold: slowShare}
		}
		return Decision{Reason: BudgetSpent, Value: h.tokens, Threshold: 1}
	}
	late.Action, late.Reason, late.Avoid = Send, Late, o.machine
	if h.config.Shadow {
		late.Action, late.Reason, late.Avoid = None, InShadow, ""
	}
	return late
}

// send records that the second request of an operation is sent.
func (h *Hedger) send(c *class, o *open, at time.Duration, scale float64, shadow bool) {
	o.hedged, o.sent, o.shadow = true, at, shadow
	c.drawn--
	h.tokens--
	h.ledger.Sent++
	h.ledger.Expected += c.wins
	if shadow {
		return
	}
	o.over[Second] = false
	typical, _ := num.Duration(c.median * scale)
	rest, _ := num.Duration(max(float64(c.plan.Alone*scale)-(at-o.began).Seconds(), 0))
	o.trial = restart.Trial{State: restart.CopyOnTrial, Copies: 1, Stake: typical, Left: rest}
	h.trials.AtRisk = num.Add(h.trials.AtRisk, typical)
}

// Done records that a request of an operation has ended. The host calls it for both requests if a second one was sent,
// also for a request that it cancels. If the operation is not open, Done changes nothing. O(1) amortised; a new plan
// takes O(b) for b distinct times.
func (h *Hedger) Done(now time.Time, id ID, attempt Attempt, outcome Outcome) {
	at := h.clock.At(now)
	o := h.find(id)
	if o == nil || attempt > Second || o.over[attempt] {
		return
	}
	c := o.class
	o.over[attempt] = true
	age := at - o.began
	if attempt == Second {
		age = at - o.sent
		h.ledger.Busy = num.Add(h.ledger.Busy, age)
	}
	if outcome == Answered || outcome == Cancelled {
		h.observe(c, at, age, o, attempt, outcome == Answered)
	}
	switch {
	case outcome == Answered && !o.answered:
		o.answered = true
		h.ledger.Answered++
		h.settle(c, o, at, age, attempt)
	case attempt == Second && !o.answered:
		h.trials.Fail(&o.trial)
	}
	if o.over[First] && o.over[Second] {
		h.trials.Drop(&o.trial)
		o.id = 0
	}
}

// observe adds the time of a request to the window, unless it is of a storm, and makes a new plan if enough has
// changed.
func (h *Hedger) observe(c *class, at, age time.Duration, o *open, attempt Attempt, answered bool) {
	t := c.times
	if attempt == First && c.usual > 0 {
		h.slow -= float64(h.slow / slowWindow)
		if age.Seconds() > c.usual*t.scale(t.known(o.size)) {
			h.slow += 1. / slowWindow
		}
	}
	if h.storm(c) {
		return
	}
	t.add(entry{at: at, seconds: age.Seconds(), size: o.size, attempt: attempt, answered: answered}, h.config.Keep)
	if t.changes*replanPart >= t.n && t.of[First].answers >= leastAnswers {
		h.plan(c)
	}
}

// storm records a time of a class, and reports whether the window must not learn it.
func (h *Hedger) storm(c *class) bool {
	c.calm++
	if c.planned && h.shrink() < 1 {
		if c.skipped == 0 { // the storm begins
			c.window = c.times.n
		}
		c.calm = 0
	} else if c.calm > c.window {
		c.skipped = 0
	}
	learned := c.calm > 0 && c.skipped == 0 || c.skipped >= stormWindows*c.window
	if !learned {
		c.skipped++
	}
	return !learned
}

// settle tells the account whether the second request of an answered operation has won.
func (h *Hedger) settle(c *class, o *open, at, age time.Duration, by Attempt) {
	switch {
	case o.shadow:
		// The second request would take its mean time, or until the answer came.
		mean, _ := num.Duration(c.mean * c.times.scale(c.times.known(o.size)))
		h.ledger.Busy = num.Add(h.ledger.Busy, min(mean, at-o.sent))
	case by == Second:
		h.ledger.Won++
		h.trials.Finish(&o.trial, age, false)
	case o.trial.State == restart.CopyOnTrial:
		h.ledger.Lost++
		h.trials.Finish(&o.trial, age, true)
		h.lost[0] = restart.Attempt{Elapsed: at - o.sent}
		h.trials.Kill(&o.trial, &restart.Task{Attempts: h.lost[:]}, &restart.Phase{}, 0, false)
	}
}

// PushBack records that a server has asked for no second requests for the given time, such as by an HTTP header
// Retry-After. The call changes nothing if an earlier pause lasts longer. O(1).
func (h *Hedger) PushBack(now time.Time, wait time.Duration) {
	h.pushed = max(h.pushed, num.Add(h.clock.At(now), max(wait, 0)))
}

// shrink returns the part of the budget that remains while nearly all requests are slow; usually 1.
func (h *Hedger) shrink() float64 { return min(1, max(1-h.slow, 0)/(1-slowShare)) }

// find returns the open operation with the number id, or nil.
func (h *Hedger) find(id ID) *open {
	if o := &h.open[id&ID(len(h.open)-1)]; o.id == id && id > 0 {
		return o
	}
	return nil
}

// place returns room for the operation with the number last. If there is none, the operation that started mostOpen
// operations before is forgotten.
func (h *Hedger) place(at time.Duration) *open {
	for len(h.open) < mostOpen && h.open[h.last&ID(len(h.open)-1)].id > 0 {
		more := make([]open, 2*len(h.open))
		for _, o := range h.open {
			if o.id > 0 {
				more[o.id&ID(len(more)-1)] = o
			}
		}
		h.open = more
	}
	o := &h.open[h.last&ID(len(h.open)-1)]
	if o.id > 0 {
		h.ledger.Forgotten++
		c := o.class
		if !o.over[First] {
			h.observe(c, at, at-o.began, o, First, false)
		}
		if !o.over[Second] {
			h.observe(c, at, at-o.sent, o, Second, false)
		}
		h.trials.Drop(&o.trial)
	}
	return o
}

// plan makes a new plan for a class. O(b) for b distinct times.
func (h *Hedger) plan(c *class) {
	if c.times.moved {
		c.usual = 0
	}
	c.times.fit()
	s := &h.sweep
	s.first, s.second = c.times.first, c.times.second
	target := -1.0
	if h.config.Target > 0 {
		target = h.config.Target.Seconds()
	}
	budget := max(h.config.Budget, 0)
	s.allow(max(h.config.Wins, 0))
	c.plan, c.planned, c.seldom, c.learns = s.plan(h.k, budget, target), true, false, false
	c.best = c.plan.Time
	if alone := c.plan.Alone; alone > target && !c.plan.worth(target) {
		s.leastWins = 0
		if best := s.plan(h.k, budget, target); best.worth(target) {
			c.seldom, c.most = true, s.wins[s.first.passed(best.Delay)]
		}
		c.plan = Plan{Time: alone, Alone: alone}
		if delay := s.first.quantile(1 - budget); !math.IsInf(delay, 1) {
			c.learns = true
			c.plan.Send, c.plan.Delay, c.plan.Probability, c.plan.Load = true, delay, 1./learnEach, budget/learnEach
		}
	}
	c.wins = s.overtaken(c.plan.Delay)
	switch median := finite(s.first.quantile(num.Half)); {
	case c.usual == 0:
		c.usual = median
	case median > 0:
		c.usual *= min(max(median/c.usual, 1/usualStep), usualStep)
	}
	c.median = finite(s.second.quantile(num.Half))
	c.mean = s.second.mean()
}

// worth reports whether the plan reaches the target, or makes the percentile shorter by a twentieth.
func (p *Plan) worth(target float64) bool {
	return p.Send && (p.Time <= target || p.Time <= (1-leastGain)*p.Alone)
}

// finite returns x, or 0 if it is infinite.
func finite(x float64) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	return x
}
