package riverplugin

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"
)

// AllKinds is a key of [Options.Kinds]: it stands for each kind that has no key of its own.
const AllKinds = "*"

// Options are the choices of a plugin. All clients of a database should have the same. While a change of options reaches one client
// after the other, jobs at a client that does not name their kind, or that is in the shadow mode, are never touched.
type Options struct {
	// Kinds names the kinds of jobs that the plugin rescues, by the Kind method of their arguments, or [AllKinds]. A
	// kind that has no key is only watched: nothing about its jobs changes.
	Kinds map[string]Kind
	// Shadow turns on the shadow mode: the plugin decides as usual, writes once a minute to the log what it would have
	// done, and changes no job. Clients in this mode have a coordinator of their own.
	Shadow bool
	// Interval is how often the coordinator looks at the running jobs, as long as there are any. Without any, it looks
	// once a second. It is 10 ms to 1 s; 0 means 100 ms.
	Interval time.Duration
	// Log gets a line for each rescue, each copy that wins, and each client that is lost or comes back. Nil means
	// slog.Default().
	Log *slog.Logger
}

// Kind is what the plugin does for the jobs of a kind. In the zero value, jobs are rescued.
type Kind struct {
	// Copies lets slow jobs have copies, which run beside the job on another client. The first of both that succeeds
	// is the result. Copies are for handlers that may run twice at the same time.
	Copies bool
	// Work returns the size of a job by its arguments, as JSON, in a unit of your choice. Then a job that is long since
	// it is large does not count as slow. Nil, or a result that is not positive, means that the size is not known.
	Work func(args []byte) float64
}

// fill checks the options and fills in the defaults.
func (o *Options) fill() error {
	o.Interval = cmp.Or(o.Interval, 100*time.Millisecond)
	if o.Interval < 10*time.Millisecond || o.Interval > time.Second { // rarer beats and looks would count as silence
		return fmt.Errorf("riverplugin: Options.Interval is %v, want 10ms to 1s, or 0 for 100ms", o.Interval)
	}
	if _, empty := o.Kinds[""]; empty {
		return fmt.Errorf("riverplugin: Options.Kinds has the key %q, want the name of a kind, or %q", "", AllKinds)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return nil
}

// guards returns the kinds in which the plugin lets only one attempt end a job. The result is not nil.
func (o *Options) guards() []string {
	if o.Shadow {
		return []string{}
	}
	return slices.AppendSeq([]string{}, maps.Keys(o.Kinds))
}

// of returns what the plugin does for a kind, and whether the options name the kind.
func (o *Options) of(kind string) (k Kind, named bool) {
	if k, named = o.Kinds[kind]; !named {
		k, named = o.Kinds[AllKinds]
	}
	return k, named
}
