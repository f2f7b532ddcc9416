package riverplugin

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// This file has what the plugin knows about the inside of River, and nothing else has it. Tests of this file fail if a
// new version of River changes it.

// reports is an error that tells River which rows an attempt has ended. River reports a success to these rows in place of the
// attempt's own row. Without rows, it reports nothing. River looks for the first two methods at the error that the chain of
// middleware returns, and does not unwrap the error.
type reports struct{ rows []*rivertype.JobRow }

func (r *reports) Jobs() []*rivertype.JobRow    { return r.rows }
func (r *reports) ErrorsByID() map[int64]error  { return nil } // an attempt reports only success to the row of another
func (r *reports) Error() string                { return "riverplugin: this attempt has not ended its own job" }
func (r *reports) MarshalJSON() ([]byte, error) { return nil, r }

// metadataKey is the text of the key under which River's context has what the attempt adds to the metadata of its row,
// such as its output. The value is a map[string]any.
const metadataKey = "river_metadata_updates"

// apart is the context of an attempt whose additions to the metadata are kept apart until the attempt has ended its
// job: River adds them to the row whether the row still runs or not.
type apart struct {
	context.Context
	own   map[string]any // what the attempt adds
	river map[string]any // what River will write
}

// keepApart returns the context of an attempt.
func keepApart(ctx context.Context) *apart {
	a := &apart{Context: ctx, own: map[string]any{}}
	_ = river.RecordOutput(a, nil) // it asks for River's map
	clear(a.own)
	return a
}

// Value returns the attempt's own additions in place of those that River will write.
func (a *apart) Value(key any) any {
	v := a.Context.Value(key)
	if m, is := v.(map[string]any); is && fmt.Sprint(key) == metadataKey {
		if a.river == nil {
			a.river = m
		}
		return a.own
	}
	return v
}

// hand lets River write what the attempt adds to the metadata.
func (a *apart) hand() { maps.Copy(a.river, a.own) }

// nothing makes River report nothing about an attempt. Middleware outside of the plugin's may hide the error that says so. Then
// River would report the attempt's end to its row, which another attempt may run now. So the metadata have a value that can't be
// written: River reports no end without its metadata, and says so in its log.
func (a *apart) nothing() error {
	a.river["straggler"] = &reports{}
	return &reports{}
}

// success makes River report the success of an attempt to the row of another job, which the plugin has completed before. So
// it sends its event. If the error is hidden, River finds the attempt's own row gone.
func success(job int64) error { return &reports{rows: []*rivertype.JobRow{{ID: job}}} }

// notRunning reports whether an error is that of river.JobCompleteTx for a job that does not run.
func notRunning(err error) bool {
	return err != nil && strings.Contains(err.Error(), "job must be running")
}
