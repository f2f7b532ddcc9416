package cluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// narrow are two machines on which two jobs cannot both have their outputs.
func narrow(disk int64) Config {
	c := Config{Machines: machines(2, 1, 1, 1), Explain: 2}
	for i := range c.Machines {
		c.Machines[i].Disk = disk
	}
	for range 2 {
		c.Jobs = append(c.Jobs, Job{Phases: []Phase{
			{Tasks: sleep(10, 10, 10)}, {Kind: Reduce, After: []int{0}, Tasks: []Task{{Seconds: 5, Bytes: 150}}},
		}})
	}
	return c
}

func TestFullDisksMakeTheLatestJobGiveWay(t *testing.T) {
	r := run(t, narrow(0))
	assert.Equal(t, seconds(35), r.End, "six maps on two slots, and a reduce")
	assert.Zero(t, r.DiskFull)

	r = run(t, narrow(100))
	assert.Equal(t, 1, r.Evicted)
	assert.EqualValues(t, 100, r.EvictedBytes)
	assert.Equal(t, 2, r.Recomputed)
	assert.EqualValues(t, 100, r.DiskMost)
	assert.Equal(t, seconds(35), r.Jobs[0].End, "its third map from 20 s on, and the reduce")
	// Its maps run on machine 1 from 30 s on, where one output of the first job is, on 0 from 35 s on, when that has
	// gone, and on 1 from 40 s on; then the reduce.
	assert.Equal(t, seconds(55), r.Jobs[1].End)
	story := ""
	for _, l := range r.Story {
		story += l.Text + "\n"
	}
	assert.Contains(t, story, "disk-full")
	assert.Contains(t, story, "evict latest-submitted")

	c := narrow(100)
	c.Jobs = append(c.Jobs[:1:1], c.Jobs[0])
	c.Jobs[0].Phases[1].Tasks[0].Bytes = 600
	_, err := Run(c)
	assert.ErrorContains(t, err, "no job can give way", "it fits nowhere")
}

// checkDisks checks that a disk contains the outputs that were written to it and not deleted, and no more than fit on
// it.
func checkDisks(t *testing.T, s *sim) {
	t.Helper()
	used, owed := make([]int64, len(s.machines)), make([]int64, len(s.machines))
	for id := range s.tasks {
		for _, at := range [2]int32{s.tasks[id].machine, s.tasks[id].replica} {
			if at != none {
				used[at] += s.sizeOf(s.tasks[id].phase)
			}
		}
	}
	for i := range s.copies {
		if c := &s.copies[i]; c.live {
			owed[c.machine] += s.sizeOf(c.phase)
		}
	}
	for i := range s.machines {
		m := &s.machines[i]
		if used[i] != m.used || owed[i] != m.owed || m.used+m.owed > s.c.Machines[i].Disk {
			require.Equal(t, used[i], m.used, "machine %d", i)
			require.Equal(t, owed[i], m.owed, "machine %d", i)
			require.LessOrEqual(t, m.used+m.owed, s.c.Machines[i].Disk)
		}
	}
}

func TestDisksHoldWhatWasWritten(t *testing.T) {
	evicted, full, replicated := 0, 0, 0.0
	for _, set := range policies(t) {
		for seed := range uint64(4) {
			c := anyCluster(seed)
			set(&c)
			most, one := 0.0, 0.0
			for _, j := range c.Jobs {
				writes := 20.0 // for rounding up
				for _, p := range j.Phases[1:] {
					for _, task := range ownFacts(&p).Tasks {
						writes += task.Bytes
					}
				}
				most, one = max(most, writes), max(one, writes/float64(len(j.Phases[0].Tasks)))
			}
			for i := range c.Machines { // where one output does not fit on either of two, a job has more than it writes
				c.Machines[i].Disk, c.Machines[i].Rack = int64(most/2+one), 0
			}
			c.Machines = c.Machines[:2]
			for i := range c.Jobs {
				c.Jobs[i].At = 0
				for k := range c.Jobs[i].Phases[0].Tasks {
					c.Jobs[i].Phases[0].Tasks[k].Replicas = nil
				}
			}
			r := watchRun(t, c)
			checkBooks(t, c, r)
			evicted, full, replicated = evicted+r.Evicted, full+r.DiskFull, replicated+r.Replicated
		}
	}
	assert.Positive(t, evicted)
	assert.Positive(t, full)
	assert.Positive(t, replicated)
}
