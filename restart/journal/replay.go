package journal

import (
	"errors"
	"fmt"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Options are the choices of [Replay] and [Restore]. The zero value replays a journal as it was recorded.
type Options struct {
	// Policy replaces the policy that the journal names. Nil: the journal's policy decides.
	Policy restart.Policy
	// Configure, if not nil, may change the configuration of each phase before its tracker is made. Use it to
	// supply the custom values of the journal. The argument phase counts the phases of the journal from 0.
	// Policy is already set.
	//
	// A value that changes as the tracker runs, such as a record of machines, must be as it was when the phase
	// began. So keep its snapshot beside the journal, and read the snapshot here.
	Configure func(phase int, c *tracker.Config)
	// OnDecision, if not nil, is called with each decision of the policy, before the tracker applies the
	// budget. The arguments are the line of the event that asked, and the facts that the policy got. The facts
	// are valid until it returns. With OnDecision the tracker keeps all facts, as for a custom policy.
	OnDecision func(line int, t restart.Task, p restart.Phase, d restart.Decision)
	// OnAnswer, if not nil, is called by Replay with each event, its line, and the tracker's answer. The slices of
	// the answer are valid until it returns.
	OnAnswer func(line int, e tracker.Event, a tracker.Answer)
	// MaxTasks bounds the number of tasks, and of machines, of a phase, because a short line can ask for many.
	// 0 means 2^20.
	MaxTasks int
}

const defaultMaxTasks = 1 << 20

// Replay tells a new tracker the events of a journal, and returns the journal with the tracker's answers. An
// answer is an indented line without a comment. All other lines stay exactly as they are; the last line gets a
// line end if it has none. If nothing has changed, the journal comes back as it was. An error names the line
// and the expected form.
//
// Replay costs as much as the tracker, and some microseconds and six small allocations a line.
func Replay(data []byte, o Options) ([]byte, error) {
	p := player{options: o, text: make([]byte, 0, len(data)), writes: true}
	if err := p.play(data); err != nil {
		return nil, err
	}
	return p.text, nil
}

// Restore tells a new tracker the events of a journal and returns the tracker. The same events make the same
// tracker, so a scheduler that kept its journal goes on where it stopped. Restore returns the tracker of the
// last phase, and an error if there is no phase. The custom values of the journal come from the options. To go
// on recording, set OnEvent in Configure.
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

// Resume tells a tracker the events of a part of a journal: the events that were recorded after the snapshot
// from which the tracker was restored. An error names the line; the events before that line have been told. A
// phase in the part is an error.
func Resume(t *tracker.Tracker, data []byte) error {
	for l, err := range lines(data) {
		switch {
		case err != nil:
			return err
		case l.class == phaseLine || l.class == workLine:
			return fmt.Errorf("journal: line %d: got a phase, want only events", l.number)
		case l.class == eventLine:
			t.Apply(l.event)
		}
	}
	return nil
}

// player is a running replay.
type player struct {
	options Options
	text    []byte // the journal with the answers, if writes is set
	writes  bool
	end     string         // line end of the last event
	answer  tracker.Answer // scratch
	tracker *tracker.Tracker
	phase   *tracker.Config // configuration of a phase whose tracker is not yet made
	line    int             // line of the event that the tracker is told, or of the phase
	opened  int             // number of phases so far
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

// prepare makes the tracker before its first event, and reads the lines of a phase.
func (p *player) prepare(l *line) error {
	switch l.class {
	case phaseLine:
		if err := p.open(); err != nil { // a phase without events must be valid too
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
		return fmt.Errorf("journal: line %d: got work, want the work line directly below the line of its phase", l.number)
	}
	c.Work = append(c.Work, l.work...)
	if c.Tasks != 0 && len(c.Work) > c.Tasks {
		return fmt.Errorf("journal: line %d: got works for %d tasks so far, want at most %d, the number of tasks of the phase",
			l.number, len(c.Work), c.Tasks)
	}
	return nil
}

// open makes the tracker of the phase whose lines have been read, if there is such a phase.
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
	if p.options.OnAnswer != nil {
		p.options.OnAnswer(p.line, e, a)
	}
	p.answer = a
	p.text = appendAnswer(p.text, &e, &p.answer, p.end)
}

// complete replaces the custom values, and bounds the memory that the tracker will allocate.
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

// observed passes on a policy's decisions, with their facts.
type observed struct {
	policy restart.Policy
	player *player
}

func (o observed) Decide(t restart.Task, p restart.Phase) restart.Decision {
	d := o.policy.Decide(t, p)
	o.player.options.OnDecision(o.player.line, t, p, d)
	return d
}

// Describe asks for every fact, and keeps the rest of the policy's own description.
func (o observed) Describe() rules.Description {
	d := rules.Describe(o.policy)
	d.Facts |= rules.AllFacts &^ rules.Left // Left changes t_rem for a policy that does not ask for it
	return d
}

// Validate validates the policy as if it were not observed.
func (o observed) Validate() error { return restart.Validate(o.policy) }
