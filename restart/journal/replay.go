package journal

import (
	"errors"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/restart"
)

// Options are the choices of [Replay]. The zero value replays a journal as it was written.
type Options struct {
	// Policy decides instead of the policy that the journal names. Nil: the journal's.
	Policy restart.Policy
	// Configure, if not nil, may change the configuration of each phase before its tracker is made: it supplies what the
	// journal names as custom. Policy has been set by then. What learns or counts must be new each time.
	Configure func(c *restart.Config)
	// Observe, if not nil, is called with every decision of the policy, before the tracker holds it against the budget:
	// the line of the event that asked for it, and the facts that the policy was given. The facts hold until it returns.
	// A policy that is observed counts as one of the host's own, for which the tracker keeps every fact.
	Observe func(line int, t restart.Task, p restart.Phase, d restart.Decision)
	// MaxTasks bounds the tasks, and the machines, of a phase, since a short line can ask for many. 0 means 2^20.
	MaxTasks int
}

const defaultMaxTasks = 1 << 20

// Replay feeds a tracker with the events of a journal and returns the journal with the answers rewritten: lines that
// are indented and hold no comment. All other lines are kept to the letter, but for a missing end of the last one. A
// journal of which nothing has changed comes back as it was. An error names the line, and what was wanted there.
//
// It costs what the tracker costs, and some microseconds and six small allocations a line.
func Replay(data []byte, o Options) ([]byte, error) {
	p := player{options: o, answers: answers{text: make([]byte, 0, len(data))}}
	for l, err := range lines(data) {
		if err != nil {
			return nil, err
		}
		if l.class == answerLine {
			continue
		}
		if l.class == eventLine {
			if err := p.prepare(&l.event); err != nil {
				return nil, err
			}
		}
		p.answers.text = append(append(p.answers.text, l.text...), l.end...)
		if l.class == eventLine && p.tracker != nil {
			p.line, p.answers.end = l.number, l.end
			p.answers.feed(p.tracker, time.Unix(0, 0).Add(l.event.At), &l.event)
		}
	}
	if err := p.open(); err != nil {
		return nil, err
	}
	return p.answers.text, nil
}

// player is a replay under way.
type player struct {
	options Options
	answers answers
	tracker *restart.Tracker // nil until the first event behind the phase line and its works
	phase   *Event           // whose tracker is yet to be made
	line    int              // of the event that the tracker is told of
}

// prepare sees to it that there is a tracker to tell of e, unless e is a part of the tracker's configuration.
func (p *player) prepare(e *Event) error {
	switch e.Kind {
	case Phase:
		if err := p.open(); err != nil { // a phase of which nothing is told must be valid all the same
			return err
		}
		p.phase, p.tracker = e, nil
		return nil
	case Work:
		return p.addWork(e)
	}
	if err := p.open(); err != nil {
		return err
	}
	if p.tracker == nil {
		return fmt.Errorf("journal: line %d: got %s, want a phase first", e.Line, e.Kind)
	}
	return nil
}

func (p *player) addWork(e *Event) error {
	if p.phase == nil {
		return fmt.Errorf("journal: line %d: got work, want it directly below the line of its phase", e.Line)
	}
	c := p.phase.Phase
	c.Work = append(c.Work, e.Work...)
	if c.Tasks != 0 && len(c.Work) > c.Tasks {
		return fmt.Errorf("journal: line %d: the works so far are %d, want no more than the phase has tasks, which is %d",
			e.Line, len(c.Work), c.Tasks)
	}
	return nil
}

// open makes the tracker of the phase whose lines have been read, if there is one.
func (p *player) open() error {
	if p.phase == nil {
		return nil
	}
	c, number := *p.phase.Phase, p.phase.Line
	if err := p.complete(&c); err != nil {
		return fmt.Errorf("journal: line %d: %w", number, err)
	}
	tracker, err := restart.NewTracker(c)
	if err != nil {
		return fmt.Errorf("journal: line %d: %w", number, err)
	}
	p.tracker, p.phase = tracker, nil
	return nil
}

// complete replaces what the text could not hold, and bounds what the tracker will allocate.
func (p *player) complete(c *restart.Config) error {
	factors := c.Factors
	if p.options.Policy != nil {
		c.Policy = p.options.Policy
	}
	if p.options.Configure != nil {
		p.options.Configure(c)
	}
	limit := p.options.MaxTasks
	if limit <= 0 {
		limit = defaultMaxTasks
	}
	switch {
	case c.Policy == custom{}:
		return errors.New("the policy is custom, want it in Options.Policy")
	case c.Rates.Prior == custom{}:
		return errors.New("the prior is custom, want Options.Configure to supply it")
	case c.Factors != nil && c.Factors == factors:
		return errors.New("the machine factors are custom, want Options.Configure to supply them")
	case c.Tasks > limit || len(c.Work) > limit || c.Machines > limit:
		return fmt.Errorf("the phase has %d tasks and %d machines, want no more than %d", max(c.Tasks, len(c.Work)), c.Machines, limit)
	}
	if p.options.Observe != nil {
		if c.Policy == nil {
			c.Policy = restart.Mantri{}
		}
		c.Policy = observed{c.Policy, p}
	}
	return nil
}

// observed shows a policy's decisions, and the facts behind them.
type observed struct {
	policy restart.Policy
	player *player
}

func (o observed) Decide(t restart.Task, p restart.Phase) restart.Decision {
	d := o.policy.Decide(t, p)
	o.player.options.Observe(o.player.line, t, p, d)
	return d
}

// Validate lets the tracker validate the policy as if it were not observed.
func (o observed) Validate() error {
	if v, ok := o.policy.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}
