package queue

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"time"

	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/engine"
)

// Options are the settings of a coordinator. The zero value has a sensible default for each field. All coordinators of
// a store should have the same options.
type Options struct {
	// Kinds are the settings of the kinds of jobs. A kind that is not here has the settings of the kind "", or else the
	// zero Kind.
	Kinds map[string]Kind
	// Policy decides which slow attempts are copied or restarted. Nil means restart.LeastCost{}.
	Policy restart.Policy
	// Interval is the time between two decisions about an attempt. 0 means 250 ms.
	Interval time.Duration
	// Look is the time between two looks into the store. A look sees which attempts have ended, and fills their slots.
	// 0 means a tenth of Interval.
	Look time.Duration
	// Silence is the time after which a worker that has not been heard from counts as lost. Its attempts are then
	// submitted elsewhere. If such a worker comes back, its results are used as long as nobody was faster. 0 means 5 s.
	Silence time.Duration
	// Takeover is the time after which another process becomes the coordinator when the coordinator has died. 0 means
	// 3 s.
	Takeover time.Duration
	// Prefetch is how many attempts may wait at a worker, in addition to the attempts that run there. 0 means 2, and a
	// negative number means none. See engine.MachinesConfig.
	Prefetch int
	// Shadow lets the coordinator decide about slow attempts without acting. It logs each decision. Once a minute it logs
	// the time that the decisions would have saved so far. OnEnd gets the bill. The bill is that of Copies for every kind.
	Shadow bool
	// OnAction is called with each action before it is committed. The name of the action's attempt in the store is
	// name. Nil means that no function is called.
	OnAction func(name string, job Job, a engine.Action)
	// Journal keeps a journal of each batch, and of each group of jobs of a stream. OnEnd gets it.
	Journal bool
	// OnEnd is called when a batch has ended, or a group of jobs of a stream: single jobs of a kind that were taken in one
	// look, often one. Nil means that no function is called.
	OnEnd func(Summary)
	// Configure is called with the configuration of each batch and each group of jobs before it begins. It may set the
	// fields that Options does not have, such as Limits, Order or Budget. Nil changes nothing.
	Configure func(kind string, c *engine.Config)
	// Log receives a message for each job that has failed for good, for each error after which the coordinator tries
	// again, and other warnings. Nil means slog.Default().
	Log *slog.Logger
}

// Kind are the settings of a kind of job.
type Kind struct {
	// Copies says that two attempts of a job may run at the same time, and that an attempt may be ended and run anew. A
	// handler can then be called several times for a job, also after another call has succeeded. Without Copies an
	// attempt is replaced only if its worker is lost, if it fails, or if its timeout has passed. Its handler may still run
	// then: if the worker was taken for lost, or if the handler ignores the end of its context for another timeout.
	Copies bool
	// Timeout is the longest time that an attempt may run. The attempt's context then ends, and the attempt counts as
	// failed. 0 means an hour, and a negative number means that there is no such time.
	Timeout time.Duration
	// Patience lets the coordinator learn a shorter timeout from the run times of the kind. For example, if Patience is 4,
	// an attempt may run for four times the longest of the last run times of the kind, and after each failure of the job
	// for twice as long as before. A learned timeout is at least 20 times Options.Interval, which is 5 s by default, and at
	// most Timeout. Timeout holds as long as fewer than 32 run times are known. 0 means that nothing is learned. See
	// engine.Config.
	Patience float64
	// Tries is the number of failed attempts after which a job has failed for good. A job also fails for good if it loses
	// its worker so often, without another failure in between. 0 means 25.
	Tries int
	// BackOff returns how long a job waits after a number of failures, 1 or more, before it is tried again. With
	// Options.Shadow it must be safe for concurrent use, and so must the policy. Nil means DefaultBackOff.
	BackOff func(job Job, failures int) time.Duration
}

const (
	defaultInterval = 250 * time.Millisecond
	defaultSilence  = 5 * time.Second
	defaultTakeover = 3 * time.Second
	defaultTimeout  = time.Hour
	defaultPrefetch = 2
	defaultTries    = 25
	looks           = 10        // looks into the store in each interval
	mostSlots       = 1_000_000 // largest number of slots, or of waiting attempts, of a worker; so sums do not overflow
	// A back-off is four times as long as the one before, up to the fourth power of the number of failures in seconds.
	backOffFactor = 4
	backOffPower  = 4
	backOffMore   = .1 // largest share by which a back-off is longer or shorter
)

// DefaultBackOff returns the time that a job waits after a number of failures: a second after the first failure, then 4
// s, 16 s, 64 s, 256 s, 1024 s, and from the seventh failure on failures^4 seconds, as River waits. It is 10 % longer
// or shorter by chance, which depends on the job's ID and the number of failures alone. So a job that fails by bad luck
// is soon tried again, and 25 tries take three weeks.
func DefaultBackOff(job Job, failures int) time.Duration {
	hash := fnv.New64a()
	fmt.Fprint(hash, job.ID, " ", failures)
	chance := float64(2*float64(hash.Sum64()>>11)/(1<<53)) - 1
	n := float64(max(failures, 1))
	seconds := min(math.Pow(backOffFactor, n-1), math.Pow(n, backOffPower)) * (1 + float64(backOffMore*chance))
	return time.Duration(min(seconds, math.MaxInt32) * float64(time.Second))
}

// fill checks the options, and fills in the defaults.
func (o *Options) fill() error {
	bad := func(field string, value any, want string) error {
		return fmt.Errorf("queue: Options.%s is %v, want %s", field, value, want)
	}
	switch {
	case o.Interval < 0:
		return bad("Interval", o.Interval, "a positive duration, or 0 for 250ms")
	case o.Look < 0:
		return bad("Look", o.Look, "a positive duration, or 0 for a tenth of Interval")
	case o.Silence < 0:
		return bad("Silence", o.Silence, "a positive duration, or 0 for 5s")
	case o.Takeover < 0:
		return bad("Takeover", o.Takeover, "a positive duration, or 0 for 3s")
	case o.Prefetch > mostSlots:
		return bad("Prefetch", o.Prefetch, fmt.Sprint("at most ", mostSlots))
	}
	for name, k := range o.Kinds {
		if k.Tries < 0 {
			return bad(fmt.Sprintf("Kinds[%q].Tries", name), k.Tries, "a positive number, or 0 for 25")
		}
		if _, err := engine.New(engine.Config{Tasks: 1, Interval: defaultInterval, Patience: k.Patience}); err != nil {
			return fmt.Errorf("queue: Options.Kinds[%q]: %w", name, err)
		}
	}
	if err := restart.Validate(o.Policy); err != nil {
		return fmt.Errorf("queue: Options.Policy: %w", err)
	}
	o.Interval = cmp.Or(o.Interval, defaultInterval)
	o.Look = cmp.Or(o.Look, o.Interval/looks, 1)
	o.Silence = cmp.Or(o.Silence, defaultSilence)
	o.Takeover = cmp.Or(o.Takeover, defaultTakeover)
	o.Prefetch = max(cmp.Or(o.Prefetch, defaultPrefetch), 0)
	o.Log = cmp.Or(o.Log, slog.Default())
	return nil
}

// kind returns the settings of a kind, with the defaults filled in.
func (o *Options) kind(name string) Kind {
	k, ok := o.Kinds[name]
	if !ok {
		k = o.Kinds[""]
	}
	k.Timeout = max(cmp.Or(k.Timeout, defaultTimeout), 0)
	k.Tries = cmp.Or(k.Tries, defaultTries)
	if k.BackOff == nil {
		k.BackOff = DefaultBackOff
	}
	return k
}
