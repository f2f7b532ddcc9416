package causes_test

import (
	"testing"
	"time"

	"github.com/straggler-go/straggler/estimate/causes"
	"github.com/straggler-go/straggler/internal/wire/wiretest"
)

// The line of a report is a summary, and its JSON is the whole report.
func TestAnswersAreWrittenAsToday(t *testing.T) {
	wiretest.Same(t, causes.Report{
		Tasks: 8, Finished: 7, Median: 10 * s, Mean: 12 * s, Slowest: 30 * s, Slowdown: 3, Model: causes.Model{Base: 10 * s},
		Machines: []causes.Suspect{{Index: 3}},
		Moments:  []causes.Moment{{From: time.Second, To: time.Hour, Ratio: 1.7, Tasks: 9}},
	},
		`tasks=8 finished=7 outliers=0 median=10s mean=12s slowest=30s slowdown=3 model=(base=10s per-byte=0 per-remote=0`+
			` explained=0) excess=0s parts=() machines=(index=3 ratio=0 tasks=0 slow=0 phases=0)`,
		`{"tasks":8,"finished":7,"median":10,"mean":12,"slowest":30,"slowdown":3,"model":{"base":10,"per-byte":0,`+
			`"per-remote":0,"explained":0},"excess":0,"parts":{},"machines":[{"index":3,"ratio":0,"tasks":0,"slow":0,`+
			`"phases":0}],"moments":[{"from":1,"to":3600,"ratio":1.7,"tasks":9}]}`)
	wiretest.Same(t, causes.Outlier{
		Cause: causes.Machine, Task: 3, Took: 30 * s, Expected: 10 * s, Times: 3, MachineRatio: 3, MomentRatio: 1,
		Parts: causes.Parts{Split: .25, Machine: .75},
	},
		`machine task=3 took=30s expected=10s times=3 machine-ratio=3 moment-ratio=1 parts=(split=0.25 machine=0.75)`,
		`{"cause":"machine","task":3,"took":30,"expected":10,"times":3,"machine-ratio":3,"moment-ratio":1,`+
			`"parts":{"split":0.25,"machine":0.75}}`)
	wiretest.Same(t, causes.Suspect{Index: 3, Ratio: 3, Tasks: 4, Slow: 4, Phases: 1},
		`index=3 ratio=3 tasks=4 slow=4 phases=1`, `{"index":3,"ratio":3,"tasks":4,"slow":4,"phases":1}`)
	wiretest.Same(t, causes.Model{Base: 2 * s, PerByte: .123456789, Explained: .9},
		`base=2s per-byte=0.123457 per-remote=0 explained=0.9`,
		`{"base":2,"per-byte":0.123456789,"per-remote":0,"explained":0.9}`)
	wiretest.Same(t, causes.Parts{Data: .5, Unknown: .123456789},
		`data=0.5 unknown=0.123457`, `{"data":0.5,"unknown":0.123456789}`)
	wiretest.Same(t, causes.Bill{},
		`phases=0 tasks=0 slowest=0s wait=0s`, `{"phases":0,"tasks":0,"slowest":0,"wait":0}`)
	wiretest.Same(t, causes.Bill{
		Phases: 4, Tasks: 160, Slowest: 120 * s, Wait: 70 * s, Machine: 11 * s, Split: 1,
		Machines: []causes.Suspect{{Index: 3, Tasks: 16}},
	},
		`phases=4 tasks=160 slowest=120s wait=70s machine=11s split=1e-09s`+
			` machines=(index=3 ratio=0 tasks=16 slow=0 phases=0)`,
		`{"phases":4,"tasks":160,"slowest":120,"wait":70,"machine":11,"split":0.000000001,`+
			`"machines":[{"index":3,"ratio":0,"tasks":16,"slow":0,"phases":0}]}`)
}

func TestConfigurationsReadBackFromJSON(t *testing.T) {
	wiretest.Settings(t, causes.Config{Outlier: 2}, `{"outlier":2}`)
}
