package journal

import (
	"errors"
	"fmt"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Options are the settings of [Replay]. The zero value replays a journal as it was recorded.
type Options struct {
	// Policy is used in place of the policy in the journal. Nil means that the policy in the journal is used.
	Policy restart.Policy
	// Configure, if not nil, may change the configuration of each phase before the phase's tracker is created. Use it
	// to supply the custom values of the journal, which have no text. The argument phase is the index of the phase in
	// the journal, from 0. Field Policy of the configuration is already set.
	//
	// Some values change while the tracker runs, such as a Knowledge. Such a value must be as it was when
	// the phase began. So keep a snapshot of the value beside the journal, and read the snapshot here.
	Configure func(phase int, c *tracker.Config)
	// OnDecision, if not nil, is called with each decision of the policy, before the tracker applies the budget. The
	// arguments are the line of the event that asked for the decision, and the facts that the policy received. The
	// facts are valid until OnDecision returns. With OnDecision the tracker keeps all facts, as for a custom policy.
	OnDecision func(line int, t restart.Task, p restart.Phase, d restart.Decision)
	// OnAnswer, if not nil, is called by Replay with each event, its line, and the tracker's answer. The slices of
	// the answer are valid until it returns.
	OnAnswer func(line int, e tracker.Event, a tracker.Answer)
	// MaxTasks is the largest number of tasks, and of machines, that a phase may have. Without this limit a short
	// line could ask for a huge amount of memory. 0 means 2^20.
	MaxTasks int
}

// defaultMaxTasks is the default of Options.MaxTasks.
const defaultMaxTasks = 1 << 20

// Replay applies the events of a journal to a new tracker, and returns the journal with the tracker's new answers. An
// answer is an indented line that is not a comment. All other lines are copied unchanged; if the last line has no
// line end, it gets one. If no answer has changed, the result equals the journal. An error states the line and the
// expected form.
//
// The cost is the cost of the tracker, and for each line some microseconds and six small allocations.
func Replay(data []byte, o Options) ([]byte, error) {
	p := player{options: o, text: make([]byte, 0, len(data))}
	if err := p.play(data); err != nil {
		return nil, err
	}
	return p.text, nil
}

// Resume applies the events of a part of a journal to the tracker t. The tracker was restored from a snapshot, and
// the part contains the events that were recorded after the snapshot. An error states the line; the events before
// that line have been applied. It is an error if the part contains the line of a phase.
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

// player is the state of a running replay.
type player struct {
	options Options
	// The journal with the new answers.
	text []byte
	// The line end of the last event.
	end string
	// Memory that each event uses again.
	answer  tracker.Answer
	tracker *tracker.Tracker
	// The configuration of a phase whose tracker is not created yet; nil if there is none.
	phase *tracker.Config
	// The number of the line of the current event or phase.
	line int
	// The number of phases so far.
	opened int
}

// play applies all lines of the journal.
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
		p.text = append(append(p.text, l.text...), l.end...)
		if l.class == eventLine {
			p.line, p.end = l.number, l.end
			p.tracker.Apply(l.event)
		}
	}
	return p.open()
}

// prepare processes the lines of a phase. Before the first event of a phase it creates the tracker.
func (p *player) prepare(l *line) error {
	switch l.class {
	case phaseLine:
		// The previous phase may have no events, but its configuration must be valid, too.
		if err := p.open(); err != nil {
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

// addWork adds the work of further tasks to the configuration of the phase.
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

// open creates the tracker of the phase whose lines have been read. If there is no such phase, it does nothing.
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

// write appends the tracker's answer to an event to the text of the replay.
func (p *player) write(e tracker.Event, a tracker.Answer) {
	if p.options.OnAnswer != nil {
		p.options.OnAnswer(p.line, e, a)
	}
	p.answer = a
	p.text = appendAnswer(p.text, &e, &p.answer, p.end)
}

// complete sets the custom values of a configuration from the options, and returns an error if a custom value is
// missing. It also returns an error if the phase has too many tasks or machines.
func (p *player) complete(c *tracker.Config) error {
	hasPath := c.Path != nil
	c.Path = nil
	know := c.Knowledge
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
	case hasPath && c.Path == nil:
		return errors.New("the path is custom, want Options.Configure to supply it")
	case c.Knowledge == know && knowledgeText(know) == customName:
		return errors.New("the knowledge is custom, want Options.Configure to supply it as it was")
	case c.Tasks > limit || len(c.Work) > limit || c.Machines > limit:
		return fmt.Errorf("the phase has %d tasks and %d machines, want no more than %d, or a higher Options.MaxTasks",
			max(c.Tasks, len(c.Work)), c.Machines, limit)
	}
	c.OnEvent = p.write
	if p.options.OnDecision != nil {
		if c.Policy == nil {
			c.Policy = restart.LeastCost{}
		}
		c.Policy = observed{c.Policy, p}
	}
	return nil
}

// observed wraps a policy, and passes each decision of the policy, with the facts, to Options.OnDecision.
type observed struct {
	policy restart.Policy
	player *player
}

// Decide returns the decision of the wrapped policy.
func (o observed) Decide(t restart.Task, p restart.Phase) restart.Decision {
	d := o.policy.Decide(t, p)
	o.player.options.OnDecision(o.player.line, t, p, d)
	return d
}

// Describe returns the description of the wrapped policy, but asks for all facts.
func (o observed) Describe() rules.Description {
	d := rules.Describe(o.policy)
	// The fact Left is not added: with it, a policy that does not ask for it would get another remaining time.
	d.Facts |= rules.AllFacts &^ rules.Left
	return d
}

// Validate validates the wrapped policy.
func (o observed) Validate() error { return restart.Validate(o.policy) }
