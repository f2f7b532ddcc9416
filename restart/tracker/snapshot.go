package tracker

import (
	"errors"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/internal/check"
	"github.com/straggler-go/straggler/internal/snapshot"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

const snapshotVersion = 13

// AppendBinary appends a snapshot of the tracker to dst: all that it was told, except what the host gave it, which
// [Restore] takes again. It fails for a Tracker that [New] did not make, and for no other. O(n), some 60 bytes a task.
func (t *Tracker) AppendBinary(dst []byte) ([]byte, error) {
	if t.judge.book == nil {
		return dst, errors.New("restart/tracker: a Tracker that New did not make has no snapshot")
	}
	return snapshot.Append(dst, snapshotVersion, func(c *snapshot.Codec) {
		h := header{policy: describe(t.judge.policy), config: t.config}
		h.code(c)
		t.phase.code(c)
		t.judge.code(c)
	})
}

// MarshalBinary returns a snapshot; see [Tracker.AppendBinary].
func (t *Tracker) MarshalBinary() ([]byte, error) { return t.AppendBinary(nil) }

// Restore returns the tracker of a snapshot: it answers as if it had never stopped. Of the configuration it takes what
// has no data: a Policy of the host's own, UnitTimes.Prior, Record, Shape, Experience, Path, Budget and OnEvent; all else
// stands in the snapshot. A Policy must be the one that was written. Budget, Record, Shape and Experience are the host's
// to save and restore; they are told nothing here, except the Experience what trials may cost that have not come out:
// its own snapshot does not hold that, so that phases which never come back leave none behind. It is an error that
// names the field if one is nil, OnEvent aside, that was not nil when the tracker was written. To go on without, say so
// by one that knows or bounds nothing: a new Record, Shape or Experience, a Path of 1, a [Budget] whose Share and Rate
// are Off. What is not a snapshot is an error. O(n); memory is bounded by a multiple of the length of data.
func Restore(c Config, data []byte) (*Tracker, error) {
	in := snapshot.Codec{In: snapshot.NewReader("restart/tracker: Tracker", snapshotVersion, data)}
	h := header{config: c}
	h.code(&in)
	if err := h.settle(&in, c.Policy); err != nil {
		return nil, err
	}
	if check.Nil(c.Budget) {
		return nil, check.Bad(place, "Budget", fmt.Sprintf("a nil %T", c.Budget), "a limiter, or nil itself for none")
	}
	if h.config.Tasks == 0 {
		h.config.Work = []float64{} // a phase without tasks
	}
	t, err := open(h.config)
	if err != nil {
		return nil, fmt.Errorf("restart/tracker: Restore: %w", err)
	}
	t.phase.code(&in)
	t.judge.code(&in)
	if in.OK() {
		t.phase.complete(&in)
	}
	if err := in.In.Close(); err != nil {
		return nil, err
	}
	t.judge.trials.pupil.resume(&t.judge.trials)
	return t, nil
}

// describe names a policy so that another one can be told from it.
func describe(policy restart.Policy) string { return named{&policy}.String() }

// header is what a tracker is made from.
type header struct {
	policy string
	config Config
	had    [len(dataless)]bool
}

// dataless are the parts of a configuration that a snapshot can't hold, and does not do without.
var dataless = [...]struct {
	name  string
	given func(c *Config) bool
}{
	{"UnitTimes.Prior", func(c *Config) bool { return c.UnitTimes.Prior != nil }},
	{"Record", func(c *Config) bool { return c.Record != nil }},
	{"Shape", func(c *Config) bool { return c.Shape != nil }},
	{"Experience", func(c *Config) bool { return c.Experience != nil }},
	{"Path", func(c *Config) bool { return c.Path != nil }},
	{"Budget", func(c *Config) bool { return c.Budget != nil }},
}

func (h *header) code(c *snapshot.Codec) {
	c.Text(&h.policy)
	config := &h.config
	config.Work = nil
	config.Tasks = c.Size(config.Tasks, leastTask)
	c.Number(&config.Slots, 0, maxTasks)
	c.Number(&config.Machines, 0, maxTasks)
	c.Bool(&config.Stream)
	c.Number(&config.Clones, 1, maxClones)
	for _, d := range []*time.Duration{
		&config.Interval, &config.Lag, &config.Model.Window, &config.Model.Grace, &config.Model.WrapUp,
	} {
		c.Duration(d)
	}
	c.Number(&config.UnitTimes.MinSamples, 1, snapshot.Any)
	c.Amount(&config.UnitTimes.Floor)
	c.Bool(&config.UnitTimes.FixedOverhead)
	c.Bool(&config.UnitTimes.KeepFirstWave)
	for i := range dataless {
		h.had[i] = dataless[i].given(config) // the host's, if it is read
		c.Bool(&h.had[i])
	}
}

// settle finds the policy of what was read.
func (h *header) settle(c *snapshot.Codec, given restart.Policy) error {
	if !c.OK() {
		return c.In.Close()
	}
	if given == nil {
		policy, err := rules.Parse(h.policy)
		if err != nil {
			return fmt.Errorf("restart/tracker: Restore: the policy is %.40q, want it in Config.Policy", h.policy)
		}
		given = policy
	}
	if describe(given) != h.policy {
		return fmt.Errorf("restart/tracker: Restore: Config.Policy is %s, want %.40q", describe(given), h.policy)
	}
	h.config.Policy = given
	for i, part := range dataless {
		if h.had[i] && !part.given(&h.config) {
			return fmt.Errorf("restart/tracker: Restore: Config.%s is nil, want the one that the tracker had, or another", part.name)
		}
	}
	return nil
}

// leastTask is how many bytes a task takes at least in a snapshot: its work, and a byte each for its flags, copies,
// attempts, original, history and the number of machines that it was tried on.
const leastTask = 8 + 6
