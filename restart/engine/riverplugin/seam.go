package riverplugin

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/riverqueue/river/rivertype"
)

// This file has what the plugin knows about the inside of River, and nothing else has it. Tests of this file fail if a
// new version of River changes it.

// reports is an error that tells River which rows an attempt has ended, and how. River reports the result to these rows
// in place of the attempt's own row. Without rows, it reports nothing.
//
// River looks for the two methods at the error that the chain of middleware returns. It does not unwrap the error. So a
// middleware outside of the plugin that wraps or swallows errors hides it; see [hidden].
type reports struct {
	rows []*rivertype.JobRow
}

func (r *reports) Jobs() []*rivertype.JobRow { return r.rows }

// ErrorsByID returns no error for any row: an attempt reports only success to the row of another.
func (r *reports) ErrorsByID() map[int64]error { return nil }

func (r *reports) Error() string { return "riverplugin: this attempt has not ended its own job" }

// nothing makes River report nothing about an attempt.
func nothing() error { return &reports{} }

// success makes River report the success of an attempt to the row of a job.
func success(job int64) error { return &reports{rows: []*rivertype.JobRow{{ID: job}}} }

// hidden reports whether other middleware runs outside of the plugin's middleware, which calls hidden. A middleware of
// a worker always does. Such a middleware may change the error that the plugin returns, so that River does not see what
// the error says. hidden looks at the functions between the plugin and River's executor.
func hidden() bool {
	const skip, most = 3, 64 // runtime.Callers, hidden, and the plugin's Work
	var pcs [most]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(skip, pcs[:])])
	for {
		f, more := frames.Next()
		switch {
		case strings.Contains(f.Function, "river/internal/jobexecutor."):
			return false
		case strings.Contains(f.Function, "river/internal/execution."), strings.Contains(f.Function, "river/internal/riverplugin."):
			// River's own: it calls the middleware, or hands errors on as they are.
		case !more, f.Function != "":
			return true
		}
	}
}

// notRunning reports whether an error is that of river.JobCompleteTx for a job that does not run.
func notRunning(err error) bool {
	return err != nil && strings.Contains(err.Error(), "job must be running")
}

// metadataKey is the text of the key under which River's context has what the attempt adds to the metadata of its row,
// such as its output. The value is a map[string]any.
const metadataKey = "river_metadata_updates"

// apart is the context of an attempt whose additions to the metadata are kept apart until the attempt has ended its
// job: River adds them to the row whether the row still runs or not.
type apart struct {
	context.Context
	mu    sync.Mutex
	own   map[string]any // what the attempt adds
	river map[string]any // what River will write; nil as long as the attempt adds nothing
}

// Value returns the attempt's own additions in place of those that River will write.
func (a *apart) Value(key any) any {
	v := a.Context.Value(key)
	if m, is := v.(map[string]any); is && fmt.Sprint(key) == metadataKey {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.own == nil {
			a.own = map[string]any{}
		}
		a.river = m
		return a.own
	}
	return v
}

// hand lets River write what the attempt adds to the metadata.
func (a *apart) hand() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k, v := range a.own {
		a.river[k] = v
	}
}
