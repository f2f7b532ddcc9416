package journal

import (
	"errors"
	"fmt"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Options are the choices of [Replay]. The zero value replays a journal as it was written.
type Options struct {
	// Policy decides instead of the policy that the journal names. Nil: the journal's.
	Policy restart.Policy
	// Configure, if not nil, may change the configuration of each phase before its tracker is made: it supplies what the
	// journal names as custom. Phase counts the phases of the journal from 0. Policy has been set by then. What learns
	// or counts must be as it was when the phase began, each time: keep a snapshot of it beside the journal, and read
	// that here.
	Configure func(phase int, c *tracker.Config)
	// OnDecision, if not nil, is called with every decision of the policy, before the tracker holds it against the budget:
	// the line of the event that asked for it, and the facts that the policy was given. The facts hold until it returns.
	// A policy that is observed counts as one of the host's own, for which the tracker keeps every fact.
	OnDecision func(line int, t restart.Task, p restart.Phase, d restart.Decision)
	// MaxTasks bounds the tasks, and the machines, of a phase, since a short line can ask for many. 0 means 2^20.
	MaxTasks int
}

const defaultMaxTasks = 1 << 20

// Replay feeds a tracker with the events of a journal and returns the journal with the answers rewritten: lines that
// are indented and hold no comment. All other lines are kept to the letter, except for a missing end of the last one. A
// journal of which nothing has changed comes back as it was. An error names the line, and what was wanted there.
//
// It costs what the tracker costs, and some microseconds and six small allocations a line.
func Replay(data []byte, o Options) ([]byte, error) {
	p := player{options: o, text: make([]byte, 0, len(data)), writes: true}
	if err := p.play(data); err != nil {
		return nil, err
	}
	return p.text, nil
}

// Restore feeds a tracker with the events of a journal and returns it: after the same events it is the same tracker, so
// a host that has kept its journal goes on where it was. The tracker is that of the last phase; it is an error if the
// journal has none. Options supply what the journal names as custom; in its Configure, set OnEvent again if you go on
// recording.
func Restore(data []byte, o Options) (*tracker.Tracker, error) {
	p := player{options: o}
	if err := p.play(data); err != nil {
		return nil, err
	}
	if p.tracker == nil {
		return nil, errors.New("journal: there is no phase, want at least one")
	}
	return p.tracker, nil
}

// Resume feeds a tracker with the events of a part of a journal: those that were recorded after the snapshot from which
// it was restored. An error names the line; the events before it have been told. It is an error if the part holds a
// phase.
func Resume(t *tracker.Tracker, data []byte) error {
	for l, err := range lines(data) {
		switch {
		case err != nil:
			return err
		case l.class == phaseLine || l.class == workLine:
			return fmt.Errorf("journal: line %d: %w", l.number, errors.New("got a phase, want events alone"))
		case l.class == eventLine:
			t.Apply(l.event)
		}
	}
	return nil
}

// player is a replay under way.
type player struct {
	options Options
	text    []byte // with the answers, if writes is set
	writes  bool
	end     string         // of a line
	answer  tracker.Answer // scratch
	tracker *tracker.Tracker
	phase   *tracker.Config // whose tracker is yet to be made
	line    int             // of the event that the tracker is told of, or of the phase
	opened  int             // phases
}

func (p *player) play(data []byte) error {
	for l, err := range lines(data) {
		if err != nil {
			return err
		}
		if l.class == answerLine {
			continue
		}
		if err := p.prepare(&l); err != nil {
			return err
		}
		if p.writes {
			p.text = append(append(p.text, l.text...), l.end...)
		}
		if l.class == eventLine {
			p.line, p.end = l.number, l.end
			p.tracker.Apply(l.event)
		}
	}
	return p.open()
}

// prepare sees to it that there is a tracker to tell of an event, and takes the configuration of one.
func (p *player) prepare(l *line) error {
	switch l.class {
	case phaseLine:
		if err := p.open(); err != nil { // a phase of which nothing is told must be valid all the same
			return err
		}
		p.phase, p.tracker, p.line = &l.config, nil, l.number
	case workLine:
		return p.addWork(l)
	case eventLine:
		if err := p.open(); err != nil {
			return err
		}
		if p.tracker == nil {
			return fmt.Errorf("journal: line %d: got %s, want a phase first", l.number, l.event.Kind)
		}
	}
	return nil
}

func (p *player) addWork(l *line) error {
	c := p.phase
	if c == nil {
		return fmt.Errorf("journal: line %d: got work, want it directly below the line of its phase", l.number)
	}
	c.Work = append(c.Work, l.work...)
	if c.Tasks != 0 && len(c.Work) > c.Tasks {
		return fmt.Errorf("journal: line %d: the works so far are %d, want no more than the phase has tasks, which is %d",
			l.number, len(c.Work), c.Tasks)
	}
	return nil
}

// open makes the tracker of the phase whose lines have been read, if there is one.
func (p *player) open() error {
	if p.phase == nil {
		return nil
	}
	c := *p.phase
	if err := p.complete(&c); err != nil {
		return fmt.Errorf("journal: line %d: %w", p.line, err)
	}
	t, err := tracker.New(c)
	if err != nil {
		return fmt.Errorf("journal: line %d: %w", p.line, err)
	}
	p.tracker, p.phase = t, nil
	p.opened++
	return nil
}

// write writes the answer to the event that the tracker was told.
func (p *player) write(e tracker.Event, a tracker.Answer) {
	p.answer = a
	p.text = appendAnswer(p.text, &e, &p.answer, p.end)
}

// complete replaces what the text could not hold, and bounds what the tracker will allocate.
func (p *player) complete(c *tracker.Config) error {
	hasPath := c.Path != nil
	c.Path = nil
	shape, experience := c.Shape, c.Experience
	if p.options.Policy != nil {
		c.Policy = p.options.Policy
	}
	if p.options.Configure != nil {
		p.options.Configure(p.opened, c)
	}
	limit := p.options.MaxTasks
	if limit <= 0 {
		limit = defaultMaxTasks
	}
	switch {
	case c.Policy == custom{}:
		return errors.New("the policy is custom, want it in Options.Policy")
	case c.Budget == custom{}:
		return errors.New("the budget is custom, want Options.Configure to supply it")
	case c.UnitTimes.Prior == custom{}:
		return errors.New("the prior is custom, want Options.Configure to supply it")
	case c.Record == customRecord{}:
		return errors.New("the record of machines is custom, want Options.Configure to supply it")
	case hasPath && c.Path == nil:
		return errors.New("the path is custom, want Options.Configure to supply it")
	case c.Shape != nil && c.Shape == shape:
		return errors.New("the shape of progress is custom, want Options.Configure to supply it as it was")
	case c.Experience != nil && c.Experience == experience:
		return errors.New("the experience is custom, want Options.Configure to supply it as it was")
	case c.Tasks > limit || len(c.Work) > limit || c.Machines > limit:
		return fmt.Errorf("the phase has %d tasks and %d machines, want no more than %d, or a higher Options.MaxTasks",
			max(c.Tasks, len(c.Work)), c.Machines, limit)
	}
	if p.writes {
		c.OnEvent = p.write
	}
	if p.options.OnDecision != nil {
		if c.Policy == nil {
			c.Policy = restart.LeastCost{}
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
	o.player.options.OnDecision(o.player.line, t, p, d)
	return d
}

// Describe asks for every fact, and keeps what else the policy says of itself.
func (o observed) Describe() rules.Description {
	d := rules.Describe(o.policy)
	d.Facts |= rules.AllFacts &^ rules.Left // with it, what a policy that does not read it is shown would be another t_rem
	return d
}

// Validate lets the tracker validate the policy as if it were not observed.
func (o observed) Validate() error { return restart.Validate(o.policy) }
