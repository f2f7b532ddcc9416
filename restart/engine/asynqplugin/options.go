package asynqplugin

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"
)

// AllKinds is a key of [Options.Kinds]: it stands for each kind that has no key of its own.
const AllKinds = "*"

// Options are the choices of a plugin. All servers of a Redis should have the same.
type Options struct {
	// Kinds names the kinds of tasks that the plugin cures of hangs, by the type of the task, or [AllKinds]. A kind that has
	// no key is only watched: nothing about its tasks changes.
	Kinds map[string]Kind
	// Shadow turns on the shadow mode: the plugin decides as usual, writes to the log what it would do, and changes no task.
	// Plugins that act leave the tasks of its server alone. A copy of another server's task is passed on.
	Shadow bool
	// Interval is how often the coordinator looks at the running tasks, as long as there are any. Without any, it looks
	// once a second. It is 10 ms to 1 s; 0 means 100 ms.
	Interval time.Duration
	// Log gets a line for each attempt that is ended since it hangs, each copy, and each server that is lost or comes
	// back. Nil means slog.Default().
	Log *slog.Logger
}

// Kind is what the plugin does for the tasks of a kind. In the zero value, an attempt that hangs is ended.
type Kind struct {
	// Copies lets slow tasks have copies, which run beside the task on another server. The first of both that succeeds
	// is the result. Copies are for handlers that may run twice at the same time.
	Copies bool
	// Work returns the size of a task by its payload, in a unit of your choice. Then a task that is long since it is
	// large does not count as slow. Nil, or a result that is not positive, means that the size is not known.
	Work func(payload []byte) float64
}

// fill checks the options and fills in the defaults.
func (o *Options) fill() error {
	o.Interval = cmp.Or(o.Interval, 100*time.Millisecond)
	if o.Interval < 10*time.Millisecond || o.Interval > time.Second { // rarer turns would miss what happens
		return fmt.Errorf("asynqplugin: Options.Interval is %v, want 10ms to 1s, or 0 for 100ms", o.Interval)
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return nil
}

// of returns what the plugin does for a kind, and whether the options name the kind.
func (o *Options) of(kind string) (k Kind, named bool) {
	if k, named = o.Kinds[kind]; !named {
		k, named = o.Kinds[AllKinds]
	}
	return k, named
}
